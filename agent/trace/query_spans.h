/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of the table `spans`. */
#ifndef CTXPROP_QUERY_SPANS_H
#define CTXPROP_QUERY_SPANS_H

#include "trace/query.h"

/*
 * The rest of a statement (behind its columns, before its order) for the newest spans of trace ?1,
 * ?2 of them at most.
 */
#define QUERY_NEWEST_SPANS                                                                         \
	" FROM spans JOIN services ON services.id = service_id WHERE spans.id IN"                  \
	" (SELECT id FROM spans WHERE trace_id = ?1 ORDER BY id DESC LIMIT ?2)"

/* The columns that query_span_read() reads. */
#define QUERY_SPAN_COLUMNS                                                                         \
	"lower(hex(span_id)), lower(hex(parent_id)), kind, start_ns, duration_ns,"                 \
	" first_byte_ns, name, container, method, path, route, host, user_agent, outcome,"         \
	" local_address, local_port, remote_address, remote_port, header, evidence, veto, status," \
	" error, reused, forwarded, pid, tid, request_bytes, response_bytes"

/* Read a row; its texts are released by query_span_release(). */
void query_span_read(sqlite3_stmt *row, struct query_span *ret_span);
void query_span_release(struct query_span *span);

/* The bytes of its texts. */
size_t query_span_bytes(const struct query_span *span);

/*
 * The number of spans of a trace, by a prepared statement of this text whose parameter ?1 is its
 * id; or -EIO.
 */
#define QUERY_COUNT "SELECT count(*) FROM spans WHERE trace_id = ?1"
__s64 query_count(sqlite3_stmt *statement, const unsigned char *trace_id);

#endif
