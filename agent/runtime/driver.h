/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface of a runtime's folder (runtimes/NAME/) in user space: how its processes are
 * recognised, where its probes are attached, and what is shown about it. How to write one:
 * runtimes/README.md.
 */
#ifndef CTXPROP_RUNTIME_DRIVER_H
#define CTXPROP_RUNTIME_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "inspect/elf_image.h"
#include "inspect/probe_sites.h"
#include "inspect/subject.h"
#include "runtime/why.h"
#include "runtimes/runtime.h"
#include "runtimes/list.h"

#define CLASSIFIED_TEXT_MAX 160

/* What a process runs. It has no pointers: a sandbox finds it out, and sends it. */
struct classified {
	struct runtime runtime;   /* for map `runtimes`; addresses see driver->relocate */
	struct probe_sites sites; /* for the probes of its runtime */
	__u64 entry;              /* address at which the program begins, as in its file, */
	__u64 bias;               /* and how far from there it was loaded; driver->relocate only */
	__u32 driver;             /* 1 and its index among the drivers; 0: none of them */
	__u32 major, minor;       /* of the version; 0: not told */
	__u32 why; /* enum why: it cannot be followed, or not beyond threads; or WHY_NONE */
};

/* The program of a uprobe. Its index in driver->probes is the number of the probe in sites. */
struct uprobe_kind {
	const char *program; /* of the BPF object */
	__u32 flags;         /* enum runtime_flags that a process must have for it */
	bool at_return;      /* of the function that its places are at the beginning of */
	bool asks;           /* the program is one of the object that only asks */
};

struct runtime_driver {
	const char *name; /* for people: of the language or the program */

	/* The libraries that are looked into, beside the program itself. */
	const struct subject_wanted *wanted;
	size_t wanted_count;

	/*
	 * Does a process run it that was started from the file of `image`? Called in a sandbox. 0,
	 * and what is known is put into `found`, which is empty but for RUNTIME_THREADS; -ENOENT:
	 * it is another one; -ENOTSUP: it is this one, but cannot be followed (found->runtime.kind
	 * says whether its threads can, found->why what is in the way); -ESTALE: a file that it has
	 * loaded is not to be had any more; or -errno.
	 */
	int (*detect)(const struct subject *subject, struct elf_image *image,
		      struct classified *found);

	/*
	 * NULL: addresses that detect() finds are those of the process. Else they are as in the
	 * program's file (with found->entry), hold for every process of it, and this moves them.
	 */
	void (*relocate)(struct runtime *runtime, __u64 bias);

	/* Its uprobes: bytes of the BPF object and its name as a skeleton. NULL: it has none. */
	const void *(*object)(size_t *ret_size);
	const char *object_name;
	/* The same of those that ask the engine, and teach it nothing (engine/learns.h). */
	const void *(*asking_object)(size_t *ret_size);
	const char *asking_name;
	const struct uprobe_kind *probes;
	size_t probe_count;

	/*
	 * Called when its probes were attached, or could not be (-errno), to change what can be
	 * followed. NULL: nothing changes.
	 */
	void (*attached)(struct classified *found, int err);

	/*
	 * What is followed, for people: the end of a sentence that begins with the process, empty
	 * where that is not worth a line. At most CLASSIFIED_TEXT_MAX bytes. NULL: nothing is.
	 */
	void (*describe)(const struct classified *found, char *ret_text);

	/*
	 * A process was inspected once more: is the result the same for people, so that it is not
	 * logged again? NULL: it is logged.
	 */
	bool (*is_same)(const struct runtime *known, const struct runtime *found);
};

extern const struct runtime_driver *const runtime_drivers[RUNTIME_FOLDERS_COUNT];

/* The driver of what was found in a process; NULL: none. */
const struct runtime_driver *runtime_driver_of(const struct classified *found);

/* Its name for people; NULL: none. Constant text. */
const char *runtime_driver_name(const struct classified *found);

#endif
