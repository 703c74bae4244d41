// SPDX-License-Identifier: Apache-2.0
#include "trace/store_row.h"

const char store_row_insert[] =
    "INSERT OR IGNORE INTO spans (trace_id, span_id, parent_id, kind, start_ns, duration_ns, "
    "first_byte_ns, "
    "service_id, method, path, route, host, user_agent, status, outcome, error, local_address, "
    "local_port, remote_address, remote_port, netns, pid, tid, request_bytes, response_bytes, "
    "reused, forwarded, header, evidence, veto, socket_cookie, position, taken_ns) VALUES "
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

static void bind_ids(sqlite3_stmt *insert, int *parameter, const struct span *span)
{
	sqlite3_bind_blob(insert, ++*parameter, span->trace_id, sizeof(span->trace_id),
			  SQLITE_STATIC);
	sqlite3_bind_blob(insert, ++*parameter, &span->span_id, sizeof(span->span_id),
			  SQLITE_STATIC);
	if (span->parent_id)
		sqlite3_bind_blob(insert, ++*parameter, &span->parent_id, sizeof(span->parent_id),
				  SQLITE_STATIC);
	else
		sqlite3_bind_null(insert, ++*parameter);
}

static void bind_why(sqlite3_stmt *insert, int *parameter, const struct span *span)
{
	struct span_cause cause = span_cause(span);

	bind_text(insert, parameter, cause.header);
	bind_text(insert, parameter, cause.evidence);
	bind_text(insert, parameter, cause.veto);
}

void store_row_bind(sqlite3_stmt *insert, const struct span *span, struct end_texts *texts,
		    sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	const struct ends ends = {span->local, span->remote, span->local_port, span->remote_port,
				  span->netns};
	int parameter = 0;

	bind_ids(insert, &parameter, span);
	bind_number(insert, &parameter, span->kind);
	bind_number(insert, &parameter, span->start_ns + (__u64)boot_to_wall_ns);
	bind_number(insert, &parameter, span->end_ns - span->start_ns);
	bind_known(insert, &parameter,
		   span->first_ns > span->start_ns ? span->first_ns - span->start_ns : 0);
	bind_number(insert, &parameter, (__u64)service);
	bind_text(insert, &parameter, span->method);
	bind_text(insert, &parameter, span->path);
	bind_text(insert, &parameter, span->route);
	bind_text(insert, &parameter, span->host);
	bind_text(insert, &parameter, span->agent);
	bind_known(insert, &parameter, span->status);
	bind_text(insert, &parameter, span_outcome_name(span->outcome));
	bind_number(insert, &parameter, span_is_error(span));
	bind_ends(insert, &parameter, &ends, texts);
	bind_known(insert, &parameter, span->tgid);
	bind_known(insert, &parameter, span->tid);
	bind_known(insert, &parameter, span->request_size);
	bind_known(insert, &parameter, span->response_size);
	bind_number(insert, &parameter, span->is_reused);
	bind_number(insert, &parameter, span->is_forwarded);
	bind_why(insert, &parameter, span);
	bind_known(insert, &parameter, span->cookie);
	bind_number(insert, &parameter, span->position);
	bind_known(insert, &parameter,
		   span->taken_ns > span->start_ns ? span->taken_ns - span->start_ns : 0);
}
