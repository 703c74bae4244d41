/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_NODE_SWEEP_H
#define CTXPROP_NODE_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define NODE_SWEEP_KEY 32 /* bytes of a key, at most */

/*
 * Removing what the node's maps have of processes, threads and requests that are gone, also from
 * the map that profilers read. The probes do so when one ends; this is for what they missed, so
 * that an agent that lives long leaks nothing. Outside the initial process namespace, where numbers
 * mean others, nothing is done.
 *
 * It is done in steps, for threads that others wait for.
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
