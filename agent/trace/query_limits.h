/* SPDX-License-Identifier: Apache-2.0 */
/* Limits for queries on behalf of other users: their time, and the length of their patterns. */
#ifndef CTXPROP_QUERY_LIMITS_H
#define CTXPROP_QUERY_LIMITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <linux/types.h>
#include <sqlite3.h>

/*
 * Bytes of a pattern. A match is one step of SQLite's machine, which nothing interrupts: its time
 * is that of the pattern times that of the text.
 */
#define QUERY_PATTERN_MAX 200

struct query_limits {
	__u64 until_ns;           /* CLOCK_MONOTONIC: then its statements end (SQLITE_INTERRUPT) */
	const atomic_bool *ended; /* they end at once when this holds; NULL: it never does */
};

/*
 * While there are readers, the write-ahead log of the store cannot be emptied, and when it is too
 * long spans are lost. While this is set, limited statements of this process end at once. May be
 * called by any thread.
 */
void query_give_way(bool give_way);

/* Limit the statements of a connection; `limits` outlive it, and may be changed between them. */
void query_limit(sqlite3 *db, const struct query_limits *limits);

#endif
