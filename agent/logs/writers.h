/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which bytes of a stream of output were written by which thread, or that this is not certain.
 *
 * The kernel tells of each piece once it is in the queue (bpf/record/lines.h): who wrote it, and
 * which piece is the newest one then. That is the writer's own, unless another thread has put one
 * behind it meanwhile. Who reads gets bytes without their bounds. All is certain at a moment when
 * the queue was read to its end and the records that came since the last such moment follow each
 * other, name a piece each, no piece twice, and have as many bytes together as were read: a record
 * of N that names another one's piece leaves at most N - 1 for the others. Their order is that of
 * the bytes then: a record is numbered before it looks at the queue.
 */
#ifndef CTXPROP_LOGS_WRITERS_H
#define CTXPROP_LOGS_WRITERS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "record/lines.h"

#define WRITERS_MAX 512 /* pieces between two moments of certainty; what is beyond is not known */

/* One stream. Zero is the beginning. */
struct writers {
	struct line_record record[WRITERS_MAX]; /* since all was certain */
	size_t count;
	size_t bytes;    /* that were read since then */
	__u32 next;      /* the sequence of the next record */
	bool overflowed; /* there were more records */
};

/* A record of this stream has come; in any order. */
void writers_add(struct writers *writers, const struct line_record *record);

/* So many bytes were read. */
void writers_read(struct writers *writers, size_t bytes);

/*
 * The queue is empty. Returns whether it is certain who has written the bytes since the last
 * success: `record` has the pieces in the order of the bytes. writers_forget() is next then.
 */
bool writers_settle(struct writers *writers);

/* Begin anew: with all that was read and told until now. */
void writers_forget(struct writers *writers);

/* Is there nothing to be settled? */
bool writers_are_idle(const struct writers *writers);

#endif
