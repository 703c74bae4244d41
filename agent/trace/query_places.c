// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "trace/query_places.h"
#include "trace/trace_set.h"

/* Conditions on a span; each holds if its parameter is NULL. */
#define FITS(span)                                                                                 \
	"(?3 IS NULL OR " span ".service_id IN (SELECT id FROM services WHERE name = ?3))"         \
	" AND (?4 IS NULL OR " span ".path GLOB ?4)"                                               \
	" AND (?5 IS NULL OR " span ".duration_ns >= ?5)"                                          \
	" AND (?6 IS NULL OR " span ".status BETWEEN ?6 AND ?7)"                                   \
	" AND (?8 IS NULL OR " span ".error)"                                                      \
	" AND (?9 IS NULL OR " span ".start_ns >= ?9)"                                             \
	" AND (?10 IS NULL OR " span ".id > ?10) AND (?11 IS NULL OR " span ".id <= ?11)"          \
	" AND (?14 IS NULL OR " span ".route = ?14) AND (?15 IS NULL OR " span ".method = ?15)"    \
	" AND (?16 IS NULL OR " span ".kind = ?16)"

/*
 * Traces are ordered by their newest span that matches: rows are read from the newest one on until
 * there are enough traces.
 */
static const char newest_sql[] = "SELECT trace_id, id FROM spans AS one WHERE " FITS(
    "one") " AND (?12 IS NULL OR one.id < ?12) ORDER BY one.id DESC";

/* Does it stand on an earlier page? */
static const char earlier_sql[] = "SELECT 1 FROM spans AS one WHERE one.trace_id = ?17 AND "
				  "+one.id >= ?12 AND " FITS("one") " LIMIT 1";

/*
 * The slowest spans, of which a trace may have several: as many as should suffice, and again
 * without the traces that are found, where those have most of them.
 */
#define IS_FOUND "is_found" /* SQL function: was this trace found already? */
static const char slowest_sql[] =
    "SELECT trace_id, id FROM spans AS one WHERE NOT " IS_FOUND
    "(trace_id) AND " FITS("one") " ORDER BY one.duration_ns DESC, one.id DESC LIMIT ?13 * 20";
#define SLOWEST_TRIES 8

/* Those whose id begins so. */
static const char named_sql[] =
    "SELECT trace_id, max(one.id) FROM spans AS one WHERE one.trace_id BETWEEN ?1 AND ?2"
    " AND " FITS("one") " GROUP BY trace_id"
			" HAVING ?12 IS NULL OR max(one.id) < ?12 ORDER BY 2 DESC LIMIT ?13";

static void bind_number(sqlite3_stmt *statement, int place, bool wanted, sqlite3_int64 number)
{
	if (wanted)
		sqlite3_bind_int64(statement, place, number);
}

static void bind_text(sqlite3_stmt *statement, int place, const char *text)
{
	if (text)
		sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

/* The lowest and the highest id that begins with these hex digits. */
static void bind_trace(sqlite3_stmt *statement, const char *digits)
{
	unsigned char bounds[2][16] = {{0}, {0}};
	size_t length = digits ? strlen(digits) : 0;

	for (size_t i = 0; i < 32; i++) {
		char digit[2] = {(char)(i < length ? digits[i] : '0')};
		unsigned int low = (unsigned int)strtoul(digit, NULL, 16);
		unsigned int high = i < length ? low : 15, shift = i % 2 ? 0 : 4;

		bounds[0][i / 2] |= (unsigned char)(low << shift);
		bounds[1][i / 2] |= (unsigned char)(high << shift);
	}
	for (int i = 0; length && i < 2; i++)
		sqlite3_bind_blob(statement, 1 + i, bounds[i], sizeof(bounds[i]), SQLITE_TRANSIENT);
}

static void bind_filter(sqlite3_stmt *statement, const struct query_filter *filter)
{
	bind_trace(statement, filter->trace);
	bind_text(statement, 3, filter->service);
	bind_text(statement, 4, filter->endpoint);
	bind_number(statement, 5, filter->slow_ns, (sqlite3_int64)filter->slow_ns);
	bind_number(statement, 6, filter->status_from, filter->status_from);
	bind_number(statement, 7, filter->status_from, filter->status_to);
	bind_number(statement, 8, filter->errors, 1);
	bind_number(statement, 9, filter->since_ns, filter->since_ns);
	bind_number(statement, 10, filter->after_row, filter->after_row);
	bind_number(statement, 11, filter->upto_row, filter->upto_row);
	bind_number(statement, 12, filter->before_row, filter->before_row);
	bind_number(statement, 13, true, filter->count ? (sqlite3_int64)filter->count : -1);
	bind_text(statement, 14, filter->route);
	bind_text(statement, 15, filter->method);
	bind_number(statement, 16, filter->kind, filter->kind);
}

/* State for deciding which rows belong to traces that are wanted. */
struct reading {
	const struct query_filter *filter;
	struct query_places *places;
	struct trace_set *seen;
	sqlite3_stmt *earlier; /* NULL: there is no earlier page */
	size_t rows;
};

/* 1: it does; 0; or -EIO. */
static int stands_earlier(sqlite3_stmt *earlier, const void *id)
{
	int result = SQLITE_DONE;

	if (!earlier)
		return 0;
	sqlite3_bind_blob(earlier, 17, id, TRACE_ID_SIZE, SQLITE_STATIC);
	result = sqlite3_step(earlier);
	sqlite3_reset(earlier);
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		return -EIO;
	return result == SQLITE_ROW;
}

static int add_place(struct reading *reading, const void *id, __s64 row)
{
	struct query_places *places = reading->places;
	struct query_place *place = list_add(&places->place, &places->count, sizeof(*place));

	if (!place)
		return -ENOMEM;
	memcpy(place->id, id, sizeof(place->id));
	place->row = row;
	return 0;
}

/* The first row of a trace decides its place in the order. */
static int read_row(struct reading *reading, sqlite3_stmt *row)
{
	const void *id = sqlite3_column_blob(row, 0);
	int err;

	reading->rows++;
	if (sqlite3_column_bytes(row, 0) != TRACE_ID_SIZE)
		return 0;
	err = trace_set_add(reading->seen, id);
	if (err)
		return err == -EEXIST ? 0 : err;
	err = stands_earlier(reading->earlier, id);
	if (err)
		return err < 0 ? err : 0;
	return add_place(reading, id, sqlite3_column_int64(row, 1));
}

static bool is_enough(const struct reading *reading)
{
	return reading->filter->count && reading->places->count >= reading->filter->count;
}

static int read_rows(struct reading *reading, sqlite3 *db, const char *sql)
{
	sqlite3_stmt *statement = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return -EIO;
	bind_filter(statement, reading->filter);
	while (!err && !is_enough(reading) && sqlite3_step(statement) == SQLITE_ROW)
		err = read_row(reading, statement);
	return sqlite3_finalize(statement) == SQLITE_OK ? err : -EIO;
}

static int prepare_earlier(struct reading *reading, sqlite3 *db)
{
	if (!reading->filter->before_row)
		return 0;
	if (sqlite3_prepare_v2(db, earlier_sql, -1, &reading->earlier, NULL) != SQLITE_OK)
		return -EIO;
	bind_filter(reading->earlier, reading->filter);
	return 0;
}

static void is_found(sqlite3_context *context, int count, sqlite3_value **arguments)
{
	const struct trace_set *seen = sqlite3_user_data(context);

	sqlite3_result_int(context, count == 1 &&
					sqlite3_value_bytes(*arguments) == TRACE_ID_SIZE &&
					trace_set_has(seen, sqlite3_value_blob(*arguments)));
}

/* `seen`: NULL, there is no such function any longer. */
static int set_function(sqlite3 *db, struct trace_set *seen)
{
	return sqlite3_create_function(db, IS_FOUND, 1, SQLITE_UTF8, seen, seen ? is_found : NULL,
				       NULL, NULL) == SQLITE_OK
		   ? 0
		   : -EIO;
}

static int read_slowest(struct reading *reading, sqlite3 *db)
{
	int err = set_function(db, reading->seen);

	for (int tries = 0; !err && tries < SLOWEST_TRIES && !is_enough(reading); tries++) {
		reading->rows = 0;
		err = read_rows(reading, db, slowest_sql);
		if (reading->rows < (size_t)reading->filter->count * 20)
			break;
	}
	set_function(db, NULL);
	return err;
}

static int read_newest(struct reading *reading, sqlite3 *db)
{
	int err = prepare_earlier(reading, db);

	if (!err)
		err = read_rows(reading, db, newest_sql);
	sqlite3_finalize(reading->earlier);
	return err;
}

int query_places_read(sqlite3 *db, const struct query_filter *filter,
		      struct query_places *ret_places)
{
	struct trace_set seen = {};
	struct reading reading = {.filter = filter, .places = ret_places, .seen = &seen};
	int err;

	*ret_places = (struct query_places){};
	if (filter->slowest)
		err = read_slowest(&reading, db);
	else if (filter->trace)
		err = read_rows(&reading, db, named_sql);
	else
		err = read_newest(&reading, db);
	trace_set_free(&seen);
	if (err)
		query_places_free(ret_places);
	return err;
}

void query_places_free(struct query_places *places)
{
	free(places->place);
	*places = (struct query_places){};
}
