/* SPDX-License-Identifier: Apache-2.0 */
/* Does a process run Node, and where are the functions that tell what it is at? */
#ifndef CTXPROP_RUNTIMES_NODE_NODE_H
#define CTXPROP_RUNTIMES_NODE_NODE_H

#include "runtimes/runtime.h"
#include "inspect/library.h"
#include "inspect/probe_sites.h"

/* Programs of bpf/probes for Node, and where they are attached: functions of libuv, mostly. */
enum node_probe {
	NODE_MADE,     /* uv_tcp_init */
	NODE_CONNECTS, /* uv_tcp_connect */
	NODE_CLOSES,   /* uv_close */
	NODE_LATER,    /* a function of Node: node::Environment::CheckImmediate */
	NODE_WORK,     /* uv__work_submit; this one and those that follow may not be known */
	NODE_QUEUES,   /* uv_queue_work */
	NODE_DONE,     /* uv__queue_done */
	NODE_FILES,    /* uv__fs_done */
	NODE_NAMES,    /* uv__getaddrinfo_done */
	NODE_SERVICES, /* uv__getnameinfo_done */
	NODE_RANDOM,   /* uv__random_done */
	NODE_POSTS,    /* of Node: node::worker::MessagePortData::AddToIncomingQueue */
	NODE_MESSAGES, /* of Node: node::worker::Message::Deserialize */
	NODE_PROBES
};

struct node {
	struct runtime runtime;   /* kind RUNTIME_NODE; addresses as in the process */
	struct probe_sites sites; /* enum node_probe */
};

/* The libraries that are looked into, for subject_open(). */
enum node_file { NODE_LIBUV, NODE_LIBNODE, NODE_WANTED };
extern const struct subject_wanted node_wanted[NODE_WANTED];

/*
 * Look at a process that runs the program of `image`; Node and libuv may be libraries. 0; -ENOENT:
 * it is not Node, or one that is not known; -ESTALE: a library of it is not to be had any more; or
 * -errno.
 */
int node_inspect(const struct subject *subject, struct elf_image *image, struct node *ret_node);

#endif
