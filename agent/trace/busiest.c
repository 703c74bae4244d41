// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/list.h"
#include "trace/busiest.h"
#include "trace/query.h"
#include "trace/query_words.h"

#define MINUTE_NS (60 * (__s64)NS_PER_SECOND)

/* Those of an endpoint follow each other. */
static const char rows_sql[] =
    "SELECT name, kind, method, route, count, errors, total_ns, longest_ns, durations"
    " FROM endpoints JOIN services ON services.id = service_id WHERE minute >= ?"
    " ORDER BY name, kind, method, route";

static const char *text_of(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

static bool is_of(const struct busy *busy, sqlite3_stmt *row)
{
	return busy->kind == sqlite3_column_int(row, 1) &&
	       !strcmp(busy->service, text_of(row, 0)) && !strcmp(busy->method, text_of(row, 2)) &&
	       !strcmp(busy->route, text_of(row, 3));
}

/* One more, of the endpoint of this row. NULL: no memory. */
static struct busy *add(struct busiest *busiest, sqlite3_stmt *row)
{
	struct busy *busy = list_add(&busiest->busy, &busiest->count, sizeof(*busy));

	if (!busy)
		return NULL;
	*busy = (struct busy){.service = strdup(text_of(row, 0)),
			      .kind = sqlite3_column_int(row, 1),
			      .method = strdup(text_of(row, 2)),
			      .route = strdup(text_of(row, 3))};
	return busy->service && busy->method && busy->route ? busy : NULL;
}

static int take_row(struct busiest *busiest, sqlite3_stmt *row)
{
	struct busy *last = busiest->count ? &busiest->busy[busiest->count - 1] : NULL;
	struct busy *busy = last && is_of(last, row) ? last : add(busiest, row);
	__u64 longest_ns = (__u64)sqlite3_column_int64(row, 7);

	if (!busy)
		return -ENOMEM;
	busy->count += (__u64)sqlite3_column_int64(row, 4);
	busy->errors += (__u64)sqlite3_column_int64(row, 5);
	busy->total_ns += (__u64)sqlite3_column_int64(row, 6);
	busy->longest_ns = longest_ns > busy->longest_ns ? longest_ns : busy->longest_ns;
	histogram_unpack(&busy->durations, sqlite3_column_blob(row, 8),
			 (size_t)sqlite3_column_bytes(row, 8));
	return 0;
}

__s64 busiest_first_minute(sqlite3 *db)
{
	return query_number(db, "SELECT min(minute) FROM endpoints");
}

int busiest_read(sqlite3 *db, unsigned int minutes, struct busiest *ret_busiest)
{
	__s64 now_ns = query_now_ns(), first = now_ns / MINUTE_NS - minutes, known;
	sqlite3_stmt *rows = NULL;
	int err = 0, result = SQLITE_DONE;

	*ret_busiest = (struct busiest){};
	if (sqlite3_prepare_v2(db, rows_sql, -1, &rows, NULL) != SQLITE_OK)
		return -EIO;
	sqlite3_bind_int64(rows, 1, first);
	while (!err && (result = sqlite3_step(rows)) == SQLITE_ROW)
		err = take_row(ret_busiest, rows);
	if (!err && result != SQLITE_DONE)
		err = -EIO;
	sqlite3_finalize(rows);
	known = busiest_first_minute(db);
	known = known > first ? known : first;
	ret_busiest->seconds = (double)(now_ns - known * MINUTE_NS) / NS_PER_SECOND;
	if (err)
		busiest_free(ret_busiest);
	return err;
}

void busiest_free(struct busiest *busiest)
{
	for (size_t i = 0; i < busiest->count; i++) {
		free(busiest->busy[i].service);
		free(busiest->busy[i].method);
		free(busiest->busy[i].route);
	}
	free(busiest->busy);
	*busiest = (struct busiest){};
}

__u64 busiest_percentile(const struct busy *busy, double percent)
{
	__u64 ns = histogram_percentile(&busy->durations, percent);

	return ns < busy->longest_ns ? ns : busy->longest_ns;
}
