/* SPDX-License-Identifier: Apache-2.0 */
/* Is it HAProxy, and where does it have what its threads are at? */
#ifndef CTXPROP_RUNTIMES_HAPROXY_HAPROXY_H
#define CTXPROP_RUNTIMES_HAPROXY_HAPROXY_H

#include "runtimes/runtime.h"
#include "inspect/probe_sites.h"

struct haproxy {
	struct runtime runtime;   /* kind RUNTIME_HAPROXY; addresses as in the file */
	__u64 entry;              /* address at which the program begins, as in the file */
	struct probe_sites sites; /* one: where runtimes/haproxy/stream.bpf.c is to be attached */
};

/*
 * Look at a program, by the functions that it lets modules link with. 0; -ENOENT: it is not
 * HAProxy, or one that cannot be followed beyond threads.
 */
int haproxy_inspect(struct elf_image *image, struct haproxy *ret_haproxy);

/* The program was moved by `bias` when it was loaded. */
void haproxy_relocate(struct runtime *runtime, __u64 bias);

#endif
