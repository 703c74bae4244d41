/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the flow table of the BPF programs. Nothing is locked: a copy may hold parts of before
 * and after a packet that passed meanwhile.
 */
#ifndef CTXPROP_TABLE_H
#define CTXPROP_TABLE_H

#include <stdbool.h>

#include "abi.h"

/*
 * Call `visit` for every flow, in no order; flows that come or go meanwhile may be missed.
 * `fd` is the map `flows`. `visit` may delete flows. 0 or -errno.
 */
int table_each(int fd, void (*visit)(const struct flow_key *, const struct flow *, void *data),
	       void *data);

/* One flow as it is now. 0, -ENOENT or -errno. */
int table_get(int fd, const struct flow_key *key, struct flow *ret_flow);

/* All network namespaces: see table_count(). */
#define TABLE_ANYWHERE 0

/*
 * Count the flows of a network namespace (`netns` as in struct flow_key), and those whose numbers
 * are shifted. 0 or -errno.
 */
int table_count(int fd, __u32 netns, unsigned long *ret_total, unsigned long *ret_shifted);

/* By how many bytes the flow's wire stream is ahead of its app stream, edits in flight included. */
__u32 table_offset(const struct flow *flow);

/* How many edits are in flight. */
unsigned int table_edits(const struct flow *flow);

/* Nanoseconds without a packet; 0 when the last packet is newer than `now_ns`. */
__u64 table_idle_ns(const struct flow *flow, __u64 now_ns);

#endif
