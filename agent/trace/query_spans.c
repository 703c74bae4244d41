// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "trace/query_spans.h"
#include "trace/trace_set.h"

static char *copy_text(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text && *text ? foreign_dup(text) : NULL;
}

static char *copy_endpoint(sqlite3_stmt *row, int column)
{
	const char *address = (const char *)sqlite3_column_text(row, column);
	bool is_ipv6 = address && strchr(address, ':');
	char *text = NULL;

	if (asprintf(&text, is_ipv6 ? "[%s]:%d" : "%s:%d", address ? address : "",
		     sqlite3_column_int(row, column + 1)) < 0)
		return NULL;
	return text;
}

void query_span_read(sqlite3_stmt *row, struct query_span *span)
{
	int column = 0;

	snprintf(span->span_id, sizeof(span->span_id), "%s", sqlite3_column_text(row, column++));
	snprintf(span->parent_id, sizeof(span->parent_id), "%s",
		 sqlite3_column_text(row, column) ? (const char *)sqlite3_column_text(row, column)
						  : "");
	column++;
	span->kind = sqlite3_column_int(row, column++);
	span->start_ns = sqlite3_column_int64(row, column++);
	span->duration_ns = sqlite3_column_int64(row, column++);
	span->first_byte_ns = sqlite3_column_int64(row, column++);
	span->service = copy_text(row, column++);
	span->container = copy_text(row, column++);
	span->method = copy_text(row, column++);
	span->path = copy_text(row, column++);
	span->route = copy_text(row, column++);
	span->host = copy_text(row, column++);
	span->agent = copy_text(row, column++);
	span->outcome = copy_text(row, column++);
	span->local = copy_endpoint(row, column);
	span->remote = copy_endpoint(row, column + 2);
	column += 4;
	span->header = copy_text(row, column++);
	span->evidence = copy_text(row, column++);
	span->veto = copy_text(row, column++);
	span->status = sqlite3_column_int(row, column++);
	span->error = sqlite3_column_int(row, column++);
	span->reused = sqlite3_column_int(row, column++);
	span->forwarded = sqlite3_column_int(row, column++);
	span->pid = sqlite3_column_int64(row, column++);
	span->tid = sqlite3_column_int64(row, column++);
	span->request_bytes = sqlite3_column_int64(row, column++);
	span->response_bytes = sqlite3_column_int64(row, column);
}

#define TEXTS(span)                                                                                \
	{                                                                                          \
		(span)->service, (span)->container, (span)->method, (span)->path, (span)->route,   \
		    (span)->host, (span)->agent, (span)->outcome, (span)->local, (span)->remote,   \
		    (span)->header, (span)->evidence, (span)->veto                                 \
	}

void query_span_release(struct query_span *span)
{
	char *texts[] = TEXTS(span);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	*span = (struct query_span){};
}

size_t query_span_bytes(const struct query_span *span)
{
	const char *const texts[] = TEXTS(span);
	size_t bytes = 0;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		bytes += texts[i] ? strlen(texts[i]) : 0;
	return bytes;
}

__s64 query_count(sqlite3_stmt *statement, const unsigned char *trace_id)
{
	__s64 count = -EIO;

	sqlite3_bind_blob(statement, 1, trace_id, TRACE_ID_SIZE, SQLITE_STATIC);
	if (sqlite3_step(statement) == SQLITE_ROW)
		count = sqlite3_column_int64(statement, 0);
	sqlite3_reset(statement);
	return count;
}
