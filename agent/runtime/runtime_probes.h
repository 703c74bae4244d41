/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The uprobe programs of all runtimes. If those of one runtime cannot be loaded or attached, the
 * others are not affected.
 */
#ifndef CTXPROP_RUNTIME_PROBES_H
#define CTXPROP_RUNTIME_PROBES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "runtime/driver.h"
#include "runtime/known_files.h"
#include "runtime/runtimes.h"
#include "runtime/uprobe_pins.h"

struct uprobe_programs;

/* Those of one object. */
struct runtime_probe {
	struct uprobe_programs *programs; /* NULL: there is no such object, or: */
	int err;                          /* why they could not be opened, -errno */
	bool said;                        /* that they cannot be loaded */
};

struct runtime_probes {
	runtimes_lack lack;
	struct runtime_probe of[RUNTIME_FOLDERS_COUNT];
	struct runtime_probe asking[RUNTIME_FOLDERS_COUNT]; /* driver->asking_object */
	struct known_files known;
};

/*
 * Programs are loaded when a process needs them first, or by runtime_probes_preload(); `lack` hears
 * once of each runtime whose programs cannot be. `pins` has to live as long.
 */
void runtime_probes_open(struct uprobe_pins *pins, runtimes_lack lack,
			 struct runtime_probes *ret_probes);

enum runtime_part {
	RUNTIME_PART_FIRST, /* what each process of a runtime needs at once */
	RUNTIME_PART_ALL,   /* what most need, and not only where contexts are published */
};

/*
 * Load so much of each runtime before there is a process of it: verifying it takes up to half a
 * second of a runtime. On all processors; ends early once `stop` is set. For a thread beside the
 * one that attaches. 0, -ECANCELED, or -errno of what cannot be loaded, of which whoever needs it
 * is told.
 */
int runtime_probes_preload(struct runtime_probes *probes, enum runtime_part part,
			   const atomic_bool *stop);

/*
 * Is everything loaded that runtime_probes_attach() needs for this (found->runtime has its flags),
 * or known not to load, so that it does not wait?
 */
bool runtime_probes_are_loaded(const struct runtime_probes *probes, const struct classified *found);

/* Load it. For any thread. What cannot be loaded is told by runtime_probes_attach(). */
void runtime_probes_load(const struct runtime_probes *probes, const struct classified *found);

/* Free it. The uprobes stay attached. */
void runtime_probes_close(struct runtime_probes *probes);

/*
 * Attach to what a process runs, unless that was done before: to places that need a flag only
 * where found->runtime has it. Addresses become those of the process, and what then can be followed
 * in it is put into found->runtime. 0 or -errno: it was not attached to.
 */
int runtime_probes_attach(struct runtime_probes *probes, const struct subject *subject,
			  struct classified *found);

/* What is known of the program in this file, with addresses as there; NULL: nothing. */
const struct classified *runtime_probes_known(const struct runtime_probes *probes,
					      const struct stat *file);

/* Is there a place among those found whose probe needs one of these flags? */
bool runtime_probes_need(const struct classified *found, __u32 flags);

/*
 * Detach the probes that need these flags from the program of this file; NULL: from all programs.
 */
void runtime_probes_hide(struct runtime_probes *probes, const struct stat *file, __u32 flags);

/* Forget programs for which `is_used` returns false. */
void runtime_probes_forget(struct runtime_probes *probes,
			   bool (*is_used)(const struct stat *file, void *data), void *data);

#endif
