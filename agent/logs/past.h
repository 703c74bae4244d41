/* SPDX-License-Identifier: Apache-2.0 */
/* Which request a thread worked on at some time in the past, by the store of spans. */
#ifndef CTXPROP_LOGS_PAST_H
#define CTXPROP_LOGS_PAST_H

#include <sqlite3.h>
#include <linux/types.h>

#include "engine/traces.h"

/* The most by which the time of a span and the time of a line can differ. */
#define PAST_SLACK_NS 100000

struct past;

/* NULL: no memory. The database stays the caller's. */
struct past *past_new(sqlite3 *db);
void past_free(struct past *past);

/*
 * The request that a thread was at, at a time of the clock (CLOCK_REALTIME). A span begins when its
 * request arrives, and the thread may be at something else then: it is at the request for certain
 * from its first call for it on (evidence by-thread), or else from the first byte of its response,
 * to the end; with PAST_SLACK_NS less at both ends. `tid` 0: the process has one thread.
 *
 * 0; -ENOENT: at none for certain, or it is not stored (yet); -ENOTUNIQ: at several; -ENOMEM; -EIO:
 * sqlite3_errmsg().
 */
int past_find(struct past *past, __u32 pid, __u32 tid, __s64 wall_ns, struct traces_ctx *ret_ids);

#endif
