/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries of traces for a list, without their spans. */
#ifndef CTXPROP_QUERY_SUMMARY_H
#define CTXPROP_QUERY_SUMMARY_H

#include "trace/query.h"

struct query_summary {
	char id[HEX_TRACE];
	__s64 row; /* as in query_trace */
	__u64 spans;
	bool is_partial; /* there are too many: what follows is of the newest ones */
	__s64 start_ns, duration_ns;
	__u64 errors, services;
	struct query_span first; /* that which began first */
};

/*
 * As query_traces(), with summaries of traces. All of them are made of a bounded number of rows,
 * where `filter` bounds the number of traces.
 */
int query_summaries(sqlite3 *db, const struct query_filter *filter,
		    int (*visit)(const struct query_summary *summary, void *data), void *data);

#endif
