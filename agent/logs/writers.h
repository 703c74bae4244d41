/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of a stream of output were written by which thread, or that this is not certain.
 *
 * The kernel tells of each piece once it is in the queue (bpf/record/lines.h): who wrote it, and
 * which piece is the newest one then. That is the writer's own, unless another thread has put one
 * behind it meanwhile. All is certain about the pieces in a queue if the records of them follow
 * each other, name a piece each, no piece twice, and have as many bytes together as the queue: a
 * record that names another one's piece leaves a piece, or its bytes, without a record. Their order
 * is that of the pieces then: a record is numbered before it looks at the queue.
 */
#ifndef CTXPROP_LOGS_WRITERS_H
#define CTXPROP_LOGS_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "record/lines.h"

#define WRITERS_MAX 1024 /* pieces in a queue of which is known who wrote them */

/* One stream. Zero is the beginning. */
struct writers {
	struct line_record record[WRITERS_MAX]; /* of what is in the queue */
	size_t count;
	__u32 next;      /* the sequence of the first one of them */
	bool overflowed; /* there were more records */
};

enum writers_verdict {
	WRITERS_CERTAIN, /* `record` has the pieces of the queue in their order */
	WRITERS_MISSING, /* there are records to come, or pieces that were not counted */
	WRITERS_RACED    /* threads have written at the same time: their order is not known */
};

/* A record of this stream has come; in any order. */
void writers_add(struct writers *writers, const struct line_record *record);

/* What is known of a queue of so many bytes. */
enum writers_verdict writers_settle(const struct writers *writers, size_t bytes);

/* The queue was read: what was told of it is of no use any more. */
void writers_forget(struct writers *writers);

#endif
