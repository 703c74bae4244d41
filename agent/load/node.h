/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What there is one of on a node, whatever the number of daemons and network namespaces: the
 * probes, and the maps that they share with the packet programs of every namespace.
 *
 *   /sys/fs/bpf/ctxprop/node/v<abi>/maps/<map name>
 *                                  /links/<generation>-<program>
 *   /sys/fs/bpf/otel/traces_ctx_v1
 *
 * The first daemon makes it, others adopt it, one of another build replaces the probes, and the
 * last `ctxprop detach` removes it. A lock on the directory orders them.
 */
#ifndef CTXPROP_LOAD_NODE_H
#define CTXPROP_LOAD_NODE_H

#include <stdbool.h>

#include "load/node_maps.h"
#include "load/probes.h"

/* How the node layer was opened, for the log. */
struct node_report {
	bool adopted;             /* probes of an earlier daemon of this build are at work */
	bool follows;             /* the probes are at work */
	struct probe_hooks hooks; /* where */
	char replaced[128]; /* why maps of an earlier build were replaced; empty: they were not */
	char unpublished[128]; /* why profilers cannot read the contexts; empty: they can */
	__u32 halved;          /* so many times half of its usual size has each table */
};

/*
 * Make the node's maps in these sizes, or adopt them. 0 and the node's lock, which node_start()
 * takes over; or -errno when there are no maps.
 */
int node_open(const struct sizes *sizes, struct node_report *ret_report, int *ret_lock_fd);

/*
 * Make the node's probes, or adopt them, and follow what was there before. 0; -ECANCELED: we were
 * told to end, and the probes are as they were; or -errno.
 */
int node_start(int lock_fd, struct node_report *report);

/*
 * Follow the connections of the current network namespace that are older than the probes, as
 * node_open() does for the one it is called in.
 */
void node_look_back(void);

/*
 * Load the probes that are not attached until the node needs them, unless probes of another build
 * are attached. Does not take the lock, which other daemons may need meanwhile. 0 or -errno.
 */
int node_make_ready(void);

/*
 * Attach what waits until the node needs it (enum node_flags): for the flags that are set already,
 * and these. 1: done; 0: nobody needs it yet; -ENOENT: nothing waits, or probes of another build
 * are at work; -EWOULDBLOCK: it is not ready, or another daemon has the lock; or -errno.
 */
int node_attach_waiting(__u32 flags);

/*
 * Record whether contexts are published, and how (enum node_publish). 0; -ENOENT: there is no node
 * layer; -EWOULDBLOCK: another daemon has the lock; or -errno.
 */
int node_set_publish(__u32 publish);
int node_publish(__u32 *ret_publish);

/* Where the probes of this build are attached now. 0, or -ENOENT: there are none. */
int node_find_hooks(struct probe_hooks *ret_hooks);

/* Remove it if no network namespace has pins any more. 0 or -errno. */
int node_remove_if_unused(void);

#endif
