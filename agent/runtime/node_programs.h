/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of Node whose connections are followed: the uprobes in libuv. */
#ifndef CTXPROP_NODE_PROGRAMS_H
#define CTXPROP_NODE_PROGRAMS_H

#include "runtime/node.h"
#include "runtime/uprobe_programs.h"

/* The programs of bpf/probes/opening.bpf.c, work.bpf.c and later.bpf.c, as uprobe_programs_open().
 * 0 or -errno. */
int node_programs_open(struct uprobe_pins *pins, struct uprobe_programs **ret_programs);

/*
 * Attach to the libuv of a process, unless that was done before, and to what its flags
 * (enum runtime_flags) ask for: what is left for later, or done by other threads. 0 or
 * -errno.
 */
int node_programs_attach(struct uprobe_programs *programs, const struct subject *subject,
			 const struct probe_sites *sites, __u32 flags);

#endif
