/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes flows whose connection ended without a FIN or RST being seen here. A live flow with an
 * offset is never removed, since its packets would no longer be renumbered.
 */
#ifndef CTXPROP_GC_H
#define CTXPROP_GC_H

#include <stdbool.h>

#include "abi.h"

enum gc_verdict {
	GC_KEEP,
	GC_REMOVE,
	GC_ASK, /* remove if the kernel does not know the connection any more */
};

struct gc_result {
	unsigned long total; /* flows met */
	unsigned long removed;
};

/* File descriptors of the maps of these names. */
struct gc_maps {
	int flows;
	int carried;
	int http2;
	int http2_served;
	int formers;
	int shares;
};

/* Going into the network namespaces of flows, to ask there. */
struct gc_places {
	/*
	 * Enter the namespace; 0, or -errno: that is not possible. `netns` as in struct flow_key.
	 */
	int (*enter)(__u32 netns, void *data);
	void (*leave)(void *data);
	void *data;
};

/* What is to be done with a flow of this age. `crowded`: the table is nearly full. */
enum gc_verdict gc_judge(const struct flow *flow, __u64 now_ns, bool crowded);

/* Look at all flows once. `crowded`: as above. 0 or -errno. */
int gc_run(const struct gc_maps *maps, __u64 now_ns, bool crowded, const struct gc_places *places,
	   struct gc_result *ret_result);

/* Remove all flows of the network namespaces for which `gone` returns true. 0 or -errno. */
int gc_remove_gone(const struct gc_maps *maps, bool (*gone)(__u32 netns, void *data), void *data,
		   struct gc_result *ret_result);

#endif
