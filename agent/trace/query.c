// SPDX-License-Identifier: Apache-2.0
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/hex.h"
#include "base/list.h"
#include "trace/query.h"

/* Does a span fit? Each condition is void where its parameter is NULL. */
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
 * A trace stands where its newest span that fits stands, so that rows are read from the newest one
 * on until there are enough traces.
 */
#define TRACES(which)                                                                              \
	"SELECT trace_id, id FROM spans AS one WHERE " which                                       \
	" AND " FITS("one") " AND (?12 IS NULL OR one.id < ?12) AND NOT EXISTS (SELECT 1 FROM "    \
			    "spans AS newer WHERE"                                                 \
			    " newer.trace_id = one.trace_id AND newer.id > one.id AND " FITS(      \
				"newer") ")"                                                       \
					 " ORDER BY one.id DESC LIMIT ?13"

/* The slowest spans, of which a trace may have several: as many as should suffice. */
static const char slowest_sql[] = "SELECT trace_id, id FROM spans AS one WHERE " FITS(
    "one") " ORDER BY one.duration_ns DESC, one.id DESC LIMIT ?13 * 20";

static const char traces_sql[] = TRACES("1");
static const char trace_sql[] = TRACES("one.trace_id BETWEEN ?1 AND ?2");

static const char spans_sql[] =
    "SELECT lower(hex(span_id)), lower(hex(parent_id)), kind, start_ns, duration_ns,"
    " first_byte_ns, name, container, method, path, route, host, user_agent, outcome,"
    " local_address, local_port, remote_address, remote_port, header, evidence, veto, status,"
    " error, reused, forwarded, pid, tid, request_bytes, response_bytes"
    " FROM spans JOIN services ON services.id = service_id WHERE trace_id = ?"
    " ORDER BY start_ns, spans.id";

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

static void read_span(sqlite3_stmt *row, struct query_span *span)
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

static void release_trace(struct query_trace *trace)
{
	for (size_t i = 0; i < trace->count; i++) {
		struct query_span *span = &trace->span[i];
		char *texts[] = {span->service, span->container, span->method, span->path,
				 span->route,   span->host,      span->agent,  span->outcome,
				 span->local,   span->remote,    span->header, span->evidence,
				 span->veto};

		for (size_t j = 0; j < sizeof(texts) / sizeof(texts[0]); j++)
			free(texts[j]);
	}
	free(trace->span);
	trace->span = NULL;
	trace->count = 0;
}

static int read_trace(sqlite3_stmt *spans, struct query_trace *trace)
{
	size_t room = 0;

	while (sqlite3_step(spans) == SQLITE_ROW) {
		struct query_span *more =
		    list_make_room(trace->span, trace->count, &room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		trace->span = more;
		more[trace->count] = (struct query_span){};
		read_span(spans, &more[trace->count++]);
	}
	return sqlite3_reset(spans) == SQLITE_OK ? 0 : -EIO;
}

/* A trace that fits, and where it stands. */
struct place {
	unsigned char id[16];
	__s64 row;
};

/* Places, one for each trace. */
struct places {
	struct place *place;
	size_t count;
};

static bool has_trace(const struct places *places, const void *id)
{
	for (size_t i = 0; i < places->count; i++)
		if (!memcmp(places->place[i].id, id, sizeof(places->place[i].id)))
			return true;
	return false;
}

static int add_place(struct places *places, sqlite3_stmt *row)
{
	const void *id = sqlite3_column_blob(row, 0);
	struct place *more;

	if (sqlite3_column_bytes(row, 0) != sizeof(more->id))
		return 0;
	more = reallocarray(places->place, places->count + 1, sizeof(*more));
	if (!more)
		return -ENOMEM;
	places->place = more;
	more += places->count++;
	memcpy(more->id, id, sizeof(more->id));
	more->row = sqlite3_column_int64(row, 1);
	return 0;
}

static const char *sql_for(const struct query_filter *filter)
{
	if (filter->slowest)
		return slowest_sql;
	return filter->trace ? trace_sql : traces_sql;
}

/* The places of the traces that fit, in their order. */
static int read_places(sqlite3 *db, const struct query_filter *filter, struct places *places)
{
	sqlite3_stmt *statement = NULL;
	int err = 0;

	if (sqlite3_prepare_v2(db, sql_for(filter), -1, &statement, NULL) != SQLITE_OK)
		return -EIO;
	bind_filter(statement, filter);
	while (!err && (!filter->count || places->count < filter->count) &&
	       sqlite3_step(statement) == SQLITE_ROW)
		if (!filter->slowest || !has_trace(places, sqlite3_column_blob(statement, 0)))
			err = add_place(places, statement);
	return sqlite3_finalize(statement) == SQLITE_OK ? err : -EIO;
}

static int visit_trace(sqlite3_stmt *spans, const struct place *place,
		       int (*visit)(const struct query_trace *trace, void *data), void *data)
{
	struct query_trace trace = {.row = place->row};
	int err;

	hex_text(trace.id, place->id, sizeof(place->id));
	sqlite3_bind_blob(spans, 1, place->id, sizeof(place->id), SQLITE_STATIC);
	err = read_trace(spans, &trace);
	if (!err && trace.count)
		err = visit(&trace, data);
	release_trace(&trace);
	return err;
}

int query_traces(sqlite3 *db, const struct query_filter *filter,
		 int (*visit)(const struct query_trace *trace, void *data), void *data)
{
	struct places places = {};
	sqlite3_stmt *spans = NULL;
	int err = read_places(db, filter, &places);

	if (!err && sqlite3_prepare_v2(db, spans_sql, -1, &spans, NULL) != SQLITE_OK)
		err = -EIO;
	for (size_t i = places.count; !err && i--;)
		err = visit_trace(spans, &places.place[i], visit, data);
	sqlite3_finalize(spans);
	free(places.place);
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
