// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include "trace/store_row.h"

const char store_row_insert[] =
    "INSERT OR IGNORE INTO spans (trace_id, span_id, parent_id, kind, start_ns, duration_ns, "
    "first_byte_ns, "
    "service_id, method, path, route, host, user_agent, status, outcome, error, local_address, "
    "local_port, remote_address, remote_port, netns, pid, tid, request_bytes, response_bytes, "
    "reused, forwarded, header, evidence, veto) VALUES "
    "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)";

static const char *const outcomes[] = {
    [RECORD_ANSWERED] = "answered", [RECORD_CLOSED] = "closed", [RECORD_RESET] = "reset"};

/*
 * The next place of the statement gets a text, or NULL for an empty one. It has to stay where it is
 * until the statement was run.
 */
static void bind_text(sqlite3_stmt *insert, int *place, const char *text)
{
	sqlite3_bind_text(insert, ++*place, text && *text ? text : NULL, -1, SQLITE_STATIC);
}

static void bind_number(sqlite3_stmt *insert, int *place, __u64 number)
{
	sqlite3_bind_int64(insert, ++*place, (sqlite3_int64)number);
}

/* 0 stands for what is not known. */
static void bind_known(sqlite3_stmt *insert, int *place, __u64 number)
{
	if (number)
		bind_number(insert, place, number);
	else
		sqlite3_bind_null(insert, ++*place);
}

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

static void bind_ends(sqlite3_stmt *insert, int *place, const struct span *span,
		      struct store_row_texts *texts)
{
	bind_text(insert, place, address_text(texts->local, span->local));
	bind_number(insert, place, ntohs(span->local_port));
	bind_text(insert, place, address_text(texts->remote, span->remote));
	bind_number(insert, place, ntohs(span->remote_port));
	bind_number(insert, place, span->netns);
}

static void bind_why(sqlite3_stmt *insert, int *place, const struct span *span)
{
	struct span_cause cause = span_cause(span);

	bind_text(insert, place, cause.header);
	bind_text(insert, place, cause.evidence);
	bind_text(insert, place, cause.veto);
}

void store_row_bind(sqlite3_stmt *insert, const struct span *span, struct store_row_texts *texts,
		    sqlite3_int64 service, __s64 boot_to_wall_ns)
{
	int place = 0;

	bind_ids(insert, &place, span);
	bind_number(insert, &place, span->kind);
	bind_number(insert, &place, span->start_ns + (__u64)boot_to_wall_ns);
	bind_number(insert, &place, span->end_ns - span->start_ns);
	bind_known(insert, &place,
		   span->first_ns > span->start_ns ? span->first_ns - span->start_ns : 0);
	bind_number(insert, &place, (__u64)service);
	bind_text(insert, &place, span->method);
	bind_text(insert, &place, span->path);
	bind_text(insert, &place, span->route);
	bind_text(insert, &place, span->host);
	bind_text(insert, &place, span->agent);
	bind_known(insert, &place, span->status);
	bind_text(insert, &place, outcomes[span->outcome]);
	bind_number(insert, &place, span_is_error(span));
	bind_ends(insert, &place, span, texts);
	bind_known(insert, &place, span->tgid);
	bind_known(insert, &place, span->tid);
	bind_known(insert, &place, span->request_size);
	bind_known(insert, &place, span->response_size);
	bind_number(insert, &place, span->is_reused);
	bind_number(insert, &place, span->is_forwarded);
	bind_why(insert, &place, span);
}
