// SPDX-License-Identifier: Apache-2.0
#include "trace/store_row.h"

const char store_row_insert[] =
    "INSERT OR IGNORE INTO spans (trace_id, span_id, parent_id, kind, start_ns, duration_ns, "
    "first_byte_ns, "
    "service_id, method, path, route, host, user_agent, status, outcome, error, local_address, "
    "local_port, remote_address, remote_port, netns, pid, tid, request_bytes, response_bytes, "
    "reused, forwarded, header, evidence, veto, socket_cookie, position, taken_ns) VALUES "
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

static void bind_ids(sqlite3_stmt *insert, int *place, const struct span *span)
{
	sqlite3_bind_blob(insert, ++*place, span->trace_id, sizeof(span->trace_id), SQLITE_STATIC);
	sqlite3_bind_blob(insert, ++*place, &span->span_id, sizeof(span->span_id), SQLITE_STATIC);
	if (span->parent_id)
		sqlite3_bind_blob(insert, ++*place, &span->parent_id, sizeof(span->parent_id),
				  SQLITE_STATIC);
	else
		sqlite3_bind_null(insert, ++*place);
}

static void bind_why(sqlite3_stmt *insert, int *place, const struct span *span)
{
	struct span_cause cause = span_cause(span);

	place_text(insert, place, cause.header);
	place_text(insert, place, cause.evidence);
	place_text(insert, place, cause.veto);
}

void store_row_bind(sqlite3_stmt *insert, const struct span *span, struct end_texts *texts,
		    sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	const struct ends ends = {span->local, span->remote, span->local_port, span->remote_port,
				  span->netns};
	int place = 0;

	bind_ids(insert, &place, span);
	place_number(insert, &place, span->kind);
	place_number(insert, &place, span->start_ns + (__u64)boot_to_wall_ns);
	place_number(insert, &place, span->end_ns - span->start_ns);
	place_known(insert, &place,
		    span->first_ns > span->start_ns ? span->first_ns - span->start_ns : 0);
	place_number(insert, &place, (__u64)service);
	place_text(insert, &place, span->method);
	place_text(insert, &place, span->path);
	place_text(insert, &place, span->route);
	place_text(insert, &place, span->host);
	place_text(insert, &place, span->agent);
	place_known(insert, &place, span->status);
	place_text(insert, &place, span_outcome_name(span->outcome));
	place_number(insert, &place, span_is_error(span));
	place_ends(insert, &place, &ends, texts);
	place_known(insert, &place, span->tgid);
	place_known(insert, &place, span->tid);
	place_known(insert, &place, span->request_size);
	place_known(insert, &place, span->response_size);
	place_number(insert, &place, span->is_reused);
	place_number(insert, &place, span->is_forwarded);
	bind_why(insert, &place, span);
	place_known(insert, &place, span->cookie);
	place_number(insert, &place, span->position);
	place_known(insert, &place,
		    span->taken_ns > span->start_ns ? span->taken_ns - span->start_ns : 0);
}
