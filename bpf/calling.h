/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A connection whose client is local, or that is forwarded, for records of its calls (records.h):
 * the requests that wait for their answer, and the answers that tell when each of them is over.
 * Nothing of this decides what becomes of a packet.
 *
 * Two sides write, at any time: the outbound one adds calls at the end of the ring, the inbound one
 * takes the oldest away.
 */
#ifndef CTXPROP_CALLING_H
#define CTXPROP_CALLING_H

#include <linux/types.h>
#include "http/protocol.h"

/* Calls of one connection that wait for their answer; a power of two. Others are not recorded. */
#define CALLING_OPEN_MAX 4

/* In place of the id of a call of which nothing is told: its answer has its place all the same. */
#define CALLING_UNTOLD (~0ULL)

struct calling_open {
	__u64 span;   /* its id, or CALLING_UNTOLD; 0: it is over */
	__u32 seq;    /* our number of its first byte */
	__u32 method; /* protocol_method(), for the reading of its answer */
};

struct calling {
	struct protocol answers; /* what comes in */
	__u32 answer_next;       /* peer's numbers: the byte that the framing expects next */
	__u32 answer_start;      /* first byte of the answer at hand */
	__u32 open_first;        /* indices count up for ever; a slot is index % CALLING_OPEN_MAX */
	__u32 open_end;
	__u64 first_ns; /* when the answer at hand began; 0: it did not */
	struct calling_open open[CALLING_OPEN_MAX];
};

/* How many calls wait for their answer. */
static inline __u32 calling_open_count(const struct calling *c)
{
	return c->open_end - c->open_first;
}

#endif
