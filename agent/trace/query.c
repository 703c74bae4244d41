// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>

#include "base/hex.h"
#include "base/list.h"
#include "trace/query.h"
#include "trace/query_places.h"
#include "trace/query_spans.h"

static const char spans_sql[] =
    "SELECT " QUERY_SPAN_COLUMNS QUERY_NEWEST_SPANS " ORDER BY start_ns, spans.id";

/* Statements that each trace needs. */
struct statements {
	sqlite3_stmt *spans, *count;
};

static void release_trace(struct query_trace *trace)
{
	for (size_t i = 0; i < trace->count; i++)
		query_span_release(&trace->span[i]);
	free(trace->span);
	trace->span = NULL;
	trace->count = 0;
}

/* Up to the bounds of a trace. */
static int read_spans(sqlite3_stmt *spans, struct query_trace *trace)
{
	size_t bytes = 0;

	while (bytes < QUERY_TEXT_MAX && sqlite3_step(spans) == SQLITE_ROW) {
		struct query_span *span = list_add(&trace->span, &trace->count, sizeof(*span));

		if (!span)
			return -ENOMEM;
		*span = (struct query_span){};
		query_span_read(spans, span);
		bytes += query_span_bytes(span);
	}
	return 0;
}

static int read_trace(const struct statements *statements, const struct query_place *place,
		      struct query_trace *trace)
{
	sqlite3_stmt *spans = statements->spans;
	int err;
	__s64 all;

	sqlite3_bind_blob(spans, 1, place->id, sizeof(place->id), SQLITE_STATIC);
	sqlite3_bind_int64(spans, 2, QUERY_SPANS_MAX);
	err = read_spans(spans, trace);
	if (sqlite3_reset(spans) != SQLITE_OK)
		return -EIO;
	all = err ? err : query_count(statements->count, place->id);
	if (all < 0)
		return (int)all;
	trace->left_out = (__u64)all > trace->count ? (__u64)all - trace->count : 0;
	return 0;
}

static int visit_trace(const struct statements *statements, const struct query_place *place,
		       int (*visit)(const struct query_trace *trace, void *data), void *data)
{
	struct query_trace trace = {.row = place->row};
	int err = read_trace(statements, place, &trace);

	hex_text(trace.id, place->id, sizeof(place->id));
	if (!err && trace.count)
		err = visit(&trace, data);
	release_trace(&trace);
	return err;
}

int query_traces(sqlite3 *db, const struct query_filter *filter,
		 int (*visit)(const struct query_trace *trace, void *data), void *data)
{
	struct statements statements = {};
	struct query_places places;
	int err = query_places_read(db, filter, &places);

	if (!err && (sqlite3_prepare_v2(db, spans_sql, -1, &statements.spans, NULL) != SQLITE_OK ||
		     sqlite3_prepare_v2(db, QUERY_COUNT, -1, &statements.count, NULL) != SQLITE_OK))
		err = -EIO;
	for (size_t i = places.count; !err && i--;)
		err = visit_trace(&statements, &places.place[i], visit, data);
	sqlite3_finalize(statements.spans);
	sqlite3_finalize(statements.count);
	query_places_free(&places);
	return err;
}

__s64 query_number(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	__s64 number = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK &&
	    sqlite3_step(statement) == SQLITE_ROW)
		number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

__s64 query_newest_row(sqlite3 *db)
{
	return query_number(db, "SELECT max(id) FROM spans");
}
