/* SPDX-License-Identifier: Apache-2.0 */
/* Which request a thread was at, at a time that is over: out of the store of spans. */
#ifndef CTXPROP_LOGS_PAST_H
#define CTXPROP_LOGS_PAST_H

#include <sqlite3.h>
#include <linux/types.h>

#include "context/traces.h"

/* The clock that spans are told by, and that of a line, differ by less. */
#define PAST_SLACK_NS 100000

/*
 * A span begins when the request has arrived, not when it is read: the thread may still be at what
 * comes after the response before. It is believed to be done so long after that.
 */
#define PAST_TAIL_NS 100000000

struct past;

/* NULL: no memory. The database stays the caller's. */
struct past *past_new(sqlite3 *db);
void past_free(struct past *past);

/*
 * The request that a thread served at a time of the clock (CLOCK_REALTIME): known only if that was
 * going on from PAST_SLACK_NS before to PAST_SLACK_NS after it, and no other one of the thread was
 * since PAST_TAIL_NS before. `tid` 0: the process has one thread. 0; -ENOENT: it served none, or
 * that is not stored (yet); -ENOTUNIQ: it is not certain which; -ENOMEM; -EIO: sqlite3_errmsg().
 */
int past_find(struct past *past, __u32 pid, __u32 tid, __s64 wall_ns, struct traces_ctx *ret_ids);

#endif
