/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_NODE_SWEEP_H
#define CTXPROP_NODE_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define NODE_SWEEP_KEY 32 /* bytes of a key, at most */

/*
 * Removes entries of processes, threads and requests that are gone from the node's maps, also from
 * the one that profilers read. Probes do so when one ends; this removes what they missed, so that
 * nothing leaks. Does nothing outside the initial pid namespace, where process numbers mean other
 * processes.
 *
 * It is done in short steps, since the calling thread has other work to do.
 */
struct node_sweep {
	bool goes_on;
	size_t map;                                 /* the one at hand */
	unsigned int looked_at;                     /* entries of it; 0: it was not begun */
	__u64 next[NODE_SWEEP_KEY / sizeof(__u64)]; /* key of its next entry */
	int removed;                                /* entries so far; or -errno, the first one */
};

/* Begin anew. */
void node_sweep_begin(struct node_sweep *sweep);

/* Look at some entries, which takes milliseconds. Clears `goes_on` behind the last ones. */
void node_sweep_step(struct node_sweep *sweep);

#endif
