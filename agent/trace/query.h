/* SPDX-License-Identifier: Apache-2.0 */
/* Queries of the store: the traces that somebody wants to see, and their spans. */
#ifndef CTXPROP_QUERY_H
#define CTXPROP_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
#include <sqlite3.h>

#include "base/hex.h"

/* Selects traces that have a span for which all of this holds. NULL, 0: any. */
struct query_filter {
	const char *trace;        /* first hex digits of the id */
	const char *service;      /* its name */
	const char *endpoint;     /* its path, as a pattern of glob(7) */
	__u64 slow_ns;            /* it took at least so long */
	unsigned int status_from; /* its status is within these */
	unsigned int status_to;
	bool errors;                /* it went wrong */
	__s64 since_ns;             /* it began at this time of the clock, or later */
	__s64 after_row, upto_row;  /* its row is one of these */
	__s64 before_row;           /* as query_trace has it: older than that trace */
	const char *route, *method; /* exactly these */
	int kind;                   /* enum span_kind */
	unsigned int count;         /* at most so many traces, the newest ones; 0: all */
	bool slowest;               /* those with the slowest such spans instead */
};

/* A span as it is stored (docs/schema.md). NULL, 0: not known. */
struct query_span {
	char span_id[HEX_SPAN], parent_id[HEX_SPAN]; /* hex; parent: empty if there is none */
	int kind;                                    /* enum span_kind */
	__s64 start_ns, duration_ns, first_byte_ns;
	char *service, *container, *method, *path, *route, *host, *agent, *outcome;
	char *local, *remote; /* address:port */
	char *header, *evidence, *veto;
	int status, error, reused, forwarded;
	__s64 pid, tid, request_bytes, response_bytes;
};

/*
 * A trace may have any number of spans, since any client can use its id. At most so many are read,
 * the newest ones, and none after so many bytes of text.
 */
#define QUERY_SPANS_MAX 5000
#define QUERY_TEXT_MAX  (4U << 20)

struct query_trace {
	char id[HEX_TRACE];      /* hex */
	__s64 row;               /* of its newest span that fits */
	struct query_span *span; /* by their start */
	size_t count;
	__u64 left_out; /* spans that are stored, and too many to be told */
};

/*
 * Give the traces that fit, the newest (or slowest) one last, to `visit`, which may return a number
 * other than 0 to end that. Returns 0, what `visit` has returned, or -EIO (sqlite3_errmsg()).
 */
int query_traces(sqlite3 *db, const struct query_filter *filter,
		 int (*visit)(const struct query_trace *trace, void *data), void *data);

/* The first number that a statement without parameters gives; 0: none. */
__s64 query_number(sqlite3 *db, const char *sql);

/* The number of the newest row; 0: there is none. */
__s64 query_newest_row(sqlite3 *db);

#endif
