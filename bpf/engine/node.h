/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Which of the probes that are attached count: there is one set of them for the whole node. */
#ifndef CTXPROP_ENGINE_NODE_H
#define CTXPROP_ENGINE_NODE_H

#include <linux/types.h>

/*
 * Map `node`, index 0. A daemon of another build attaches its own probes beside the old ones,
 * which then hand over all at once, by the change of the generation. 0: none is at work.
 */
struct node {
	__u32 generation;
	__u32 flags; /* enum node_flags */
	__u64 build; /* tells builds of the probes apart */
	/* Tables have so many times half of their usual size (load/sizes.h). */
	__u32 halved;
	__u32 publish; /* enum node_publish */
};

#define NODE_HALVED_MASK 31

enum node_flags {
	NODE_UNIX = 1 << 0,  /* programs that take requests may use unix sockets */
	NODE_GIVEN = 1 << 1, /* processes were made for connections (given.h) */
};

/*
 * Is what changes hands on threads (goroutines and the like) shown in traces_ctx_v1? The processes
 * for which it is have RUNTIME_SHOWN.
 */
enum node_publish {
	NODE_PUBLISH_UNTOLD, /* no daemon has said so */
	NODE_PUBLISH_NEVER,  /* nobody wants it */
	NODE_PUBLISH_ALWAYS,
	NODE_PUBLISH_UNREAD,  /* it is not while no program of others reads the map; */
	NODE_PUBLISH_READ,    /* one does; */
	NODE_PUBLISH_BLIND,   /* that cannot be seen: it is not */
	NODE_PUBLISH_SAMPLED, /* one does, with its samples: it is at these moments */
};

#endif
