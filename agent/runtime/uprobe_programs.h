/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The BPF programs for the uprobes of one runtime. Those of one family, which are called
 * probe_FAMILY_..., are loaded when a process needs the first of them, or before, and put where
 * they belong.
 */
#ifndef CTXPROP_UPROBE_PROGRAMS_H
#define CTXPROP_UPROBE_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "inspect/probe_sites.h"
#include "runtime/driver.h"
#include "runtime/uprobe_pins.h"

struct uprobe_programs;

/*
 * The programs of an object over the node's maps, of which none is loaded yet: `name` and bytes are
 * those of a skeleton, as its NAME__elf_bytes() has them. They and `pins` have to live as long. 0
 * or -errno.
 */
int uprobe_programs_open(struct uprobe_pins *pins, const char *name, const void *object,
			 size_t size, struct uprobe_programs **ret_programs);

/* Free it. The uprobes stay attached. */
void uprobe_programs_close(struct uprobe_programs *programs);

/*
 * Load the family of this program, unless that was done before, or wait until another thread has
 * done it. For more than one thread. 0, what uprobe_programs_lack() returns, or -errno.
 */
int uprobe_programs_need(struct uprobe_programs *programs, const char *name);

/* Would uprobe_programs_need() return at once? For more than one thread. */
bool uprobe_programs_is_settled(struct uprobe_programs *programs, const char *name);

/*
 * Attach to all places of a process, which has these flags, unless that was done before; families
 * of probes that are needed for it are loaded. `asks`: to those whose programs are of the object
 * that asks, or to all others. Places that have no kind are an error. 0, what
 * uprobe_programs_lack() returns, or -errno.
 */
int uprobe_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			   const struct probe_sites *sites, const struct uprobe_kind *kinds,
			   size_t count, __u32 flags, bool asks);

/* uprobe_pins_detach() for the probe of this name. */
void uprobe_programs_detach(struct uprobe_programs *programs, const struct stat *program,
			    const char *name);

/* Why a program could not be loaded, after which no other is tried: -errno. 0: none has failed. */
int uprobe_programs_lack(struct uprobe_programs *programs);

#endif
