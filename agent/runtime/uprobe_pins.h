/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uprobes that stay without us: pinned below the node's layer, so that following goes on without
 * a daemon, until another one takes over.
 */
#ifndef CTXPROP_UPROBE_PINS_H
#define CTXPROP_UPROBE_PINS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <bpf/libbpf.h>

#include "load/pins.h"
#include "runtime/uprobe.h"

struct uprobe_pins {
	bool by_link; /* they are attached by links, see uprobe.h */
	char dir[PINS_PATH_MAX];
	char session[16]; /* names of our pins begin so */
	unsigned int serial;
};

/* 0 or -errno. */
int uprobe_pins_open(struct uprobe_pins *ret_pins);

/* Before the load of an object of uprobes: share the node's maps. 0 or -errno. */
int uprobe_pins_prepare(const struct uprobe_pins *pins, struct bpf_object *object);

/* Attach as uprobe_attach() does, and pin that. `ret_pin`: its path. 0 or -errno. */
int uprobe_pins_attach(struct uprobe_pins *pins, const struct bpf_program *program,
		       const struct uprobe_place *place, char ret_pin[PINS_PATH_MAX]);

/* Detach what an earlier daemon has attached. 0 or -errno. */
int uprobe_pins_detach_others(struct uprobe_pins *pins);

/* Is this the same file, unchanged? */
bool uprobe_pins_is_same(const struct stat *a, const struct stat *b);

#endif
