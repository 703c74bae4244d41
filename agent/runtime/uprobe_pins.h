/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uprobes that outlive the daemon: pinned below the node's layer, so that requests are followed
 * until the next daemon takes over.
 */
#ifndef CTXPROP_UPROBE_PINS_H
#define CTXPROP_UPROBE_PINS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <bpf/libbpf.h>

#include "inspect/subject.h"
#include "pins/pins.h"
#include "runtime/uprobe.h"

struct uprobe_pin;

struct uprobe_pins {
	bool by_link; /* they are attached by links, see uprobe.h */
	bool returns; /* probes may be put on the return of functions, see uprobe_returns.h */
	char dir[PINS_PATH_MAX], programs_dir[PINS_PATH_MAX];
	char session[16]; /* names of our pins begin so */
	unsigned int serial;
	struct uprobe_pin *first;
};

/* 0 or -errno. */
int uprobe_pins_open(struct uprobe_pins *ret_pins);

/* Free it. The uprobes stay attached. */
void uprobe_pins_close(struct uprobe_pins *pins);

/* Before the load of an object of uprobes: share the node's maps. 0 or -errno. */
int uprobe_pins_prepare(const struct uprobe_pins *pins, struct bpf_object *object);

/*
 * What tells programs apart that come of an object which was prepared: its bytes, its constants,
 * the node's maps that are pinned now. 0: such programs cannot be used again.
 */
__u64 uprobe_pins_key(const struct uprobe_pins *pins, const struct bpf_object *object,
		      const void *bytes, size_t size);

/* Open what is pinned under this key and name: a descriptor, -ENOENT, or -errno. */
int uprobe_pins_open_program(const struct uprobe_pins *pins, __u64 key, const char *name);

/*
 * Pin a program by its key (0: do not) and name, in place of what has that name, for the next
 * daemon, which loads it anew where that fails.
 */
void uprobe_pins_keep_program(const struct uprobe_pins *pins, __u64 key, const char *name, int fd);

/* Where a probe belongs. */
struct uprobe_site {
	const struct subject_file *file;
	__u64 offset;   /* in the file */
	bool at_return; /* of the function that begins there */
};

/*
 * Attach `probe`, the descriptor of a program, to a place, unless that was done before, for the
 * sake of a program (a file): one that runs what is in site->file. Nothing is done at a return
 * where that could do harm. 0; -EFAULT: no process was seen to run that place; or -errno.
 */
int uprobe_pins_attach(struct uprobe_pins *pins, const struct stat *program, int probe,
		       const struct uprobe_site *site);

/* Detach `probe` from all its places in this program; NULL: in all of them. */
void uprobe_pins_detach(struct uprobe_pins *pins, const struct stat *program, int probe);

/* Detach from programs for which `is_used` returns false. */
void uprobe_pins_sweep(struct uprobe_pins *pins,
		       bool (*is_used)(const struct stat *program, void *data), void *data);

/* Detach what an earlier daemon has attached. 0 or -errno. */
int uprobe_pins_detach_others(struct uprobe_pins *pins);

/* Is this the same file, unchanged? */
bool uprobe_pins_is_same(const struct stat *a, const struct stat *b);

#endif
