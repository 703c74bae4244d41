// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include "trace/query_places.h"
#include "trace/query_spans.h"
#include "trace/query_summary.h"

#define ROWS_MAX 200000 /* that a list is made of */

static const char sums_sql[] =
    "SELECT count(*), min(start_ns), max(start_ns + duration_ns), sum(error),"
    " count(DISTINCT coalesce(name, ''))" QUERY_NEWEST_SPANS;
static const char first_sql[] =
    "SELECT " QUERY_SPAN_COLUMNS QUERY_NEWEST_SPANS " ORDER BY start_ns, spans.id LIMIT 1";

/* Statements that each trace needs, and how many of its spans they may read. */
struct statements {
	sqlite3_stmt *sums, *first, *count;
	__s64 rows;
};

static __s64 rows_of_each(size_t traces)
{
	const size_t rows = traces ? ROWS_MAX / traces : ROWS_MAX;

	return rows < QUERY_SPANS_MAX ? (__s64)rows + 1 : QUERY_SPANS_MAX;
}

static int prepare(struct statements *statements, sqlite3 *db)
{
	if (sqlite3_prepare_v2(db, sums_sql, -1, &statements->sums, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, first_sql, -1, &statements->first, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, QUERY_COUNT, -1, &statements->count, NULL) != SQLITE_OK)
		return -EIO;
	sqlite3_bind_int64(statements->sums, 2, statements->rows);
	sqlite3_bind_int64(statements->first, 2, statements->rows);
	return 0;
}

/* Returns how many spans were summed up, or -EIO. */
static __s64 read_sums(sqlite3_stmt *sums, const unsigned char *id, struct query_summary *summary)
{
	__s64 count = -EIO;

	sqlite3_bind_blob(sums, 1, id, TRACE_ID_SIZE, SQLITE_STATIC);
	if (sqlite3_step(sums) == SQLITE_ROW) {
		count = sqlite3_column_int64(sums, 0);
		summary->start_ns = sqlite3_column_int64(sums, 1);
		summary->duration_ns = sqlite3_column_int64(sums, 2) - summary->start_ns;
		summary->errors = (__u64)sqlite3_column_int64(sums, 3);
		summary->services = (__u64)sqlite3_column_int64(sums, 4);
	}
	sqlite3_reset(sums);
	return count;
}

/* Returns whether there is one, or -EIO. */
static int read_first(sqlite3_stmt *first, const unsigned char *id, struct query_span *span)
{
	int result;

	sqlite3_bind_blob(first, 1, id, TRACE_ID_SIZE, SQLITE_STATIC);
	result = sqlite3_step(first);
	if (result == SQLITE_ROW)
		query_span_read(first, span);
	sqlite3_reset(first);
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		return -EIO;
	return result == SQLITE_ROW;
}

/* Returns whether it has spans still, or -EIO. */
static int read_summary(const struct statements *statements, const unsigned char *id,
			struct query_summary *summary)
{
	__s64 summed = read_sums(statements->sums, id, summary), all = summed;

	if (summed >= statements->rows)
		all = query_count(statements->count, id);
	if (summed < 0 || all < 0)
		return -EIO;
	summary->spans = (__u64)all;
	summary->is_partial = all > summed;
	return read_first(statements->first, id, &summary->first);
}

static int visit_place(const struct statements *statements, const struct query_place *place,
		       int (*visit)(const struct query_summary *summary, void *data), void *data)
{
	struct query_summary summary = {.row = place->row};
	int err = read_summary(statements, place->id, &summary);

	hex_text(summary.id, place->id, sizeof(place->id));
	if (err > 0)
		err = visit(&summary, data);
	query_span_release(&summary.first);
	return err;
}

int query_summaries(sqlite3 *db, const struct query_filter *filter,
		    int (*visit)(const struct query_summary *summary, void *data), void *data)
{
	struct statements statements = {};
	struct query_places places;
	int err = query_places_read(db, filter, &places);

	statements.rows = rows_of_each(places.count);
	if (!err)
		err = prepare(&statements, db);
	for (size_t i = places.count; !err && i--;)
		err = visit_place(&statements, &places.place[i], visit, data);
	sqlite3_finalize(statements.sums);
	sqlite3_finalize(statements.first);
	sqlite3_finalize(statements.count);
	query_places_free(&places);
	return err;
}
