/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What is told of each piece of output that a program puts into a socket which somebody follows
 * (lines.bpf.c): which thread did, and what it worked on at that moment.
 *
 * A piece is what the kernel queues at once: a write of up to some 32 KiB is one.
 */
#ifndef CTXPROP_RECORD_LINES_H
#define CTXPROP_RECORD_LINES_H

#include <linux/types.h>

#include "engine/habits.h"
#include "engine/traces.h"

/* Bytes of the ring of records; a power of two. */
#define LINES_RING_SIZE (1 << 18)

struct line_record {
	__u32 stream;   /* number of the socket, as who follows it has chosen */
	__u32 sequence; /* counts the records of the stream; those of racing writers may be swapped
			 */
	__u64 piece;    /* address of the newest piece in the queue; 0: it is empty, or changed */
	__u32 size;     /* bytes of that piece */
	__u32 tgid;     /* in the initial pid namespace */
	__u32 tid;
	__u32 is_known; /* the thread works on a request: */
	struct traces_ctx works_on;
};

/*
 * Do the threads of a process, as it is known by now, respond to what they read themselves? Not
 * before it has served as many requests as show if they do not.
 */
static inline int line_process_is_simple(const struct process *p)
{
	return p->served >= PROCESS_SERVED && !process_has_broken(p, HABIT_THREADS_KEEP) &&
	       !process_has_broken(p, HABIT_LOOPS_APART) &&
	       !process_has_broken(p, HABIT_ANSWERS_APART) &&
	       !process_has_broken(p, HABIT_SERVES_OWN);
}

/* The value of a socket that is followed, put there by who follows it. */
struct line_stream {
	__u32 stream;
	__u32 sequence; /* of the next record */
};

#endif
