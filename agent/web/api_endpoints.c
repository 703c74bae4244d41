// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "trace/busiest.h"
#include "trace/histogram.h"
#include "trace/json.h"
#include "trace/query_words.h"
#include "trace/span.h"
#include "web/api.h"
#include "web/api_store.h"

#define LAST_NS       (3600 * NS_PER_SECOND)
#define SECONDS       60 /* of a minute */
#define NS_PER_MINUTE (SECONDS * NS_PER_SECOND)
#define POINTS_MAX    60
#define ENDPOINTS_MAX 1000

/* Those of an endpoint follow each other. */
static const char rows_sql[] =
    "SELECT minute, name, kind, method, route, count, errors, total_ns, longest_ns, durations"
    " FROM endpoints JOIN services ON services.id = service_id WHERE minute >= ?"
    " ORDER BY name, kind, method, route";

/* A span of time, cut into steps of as many minutes. */
struct window {
	__s64 first, minutes, step; /* minutes, of which the first one is counted since 1970 */
	size_t points;
	double seconds; /* of it of which the store knows something */
};

struct point {
	__u64 count, errors;
	struct histogram durations;
};

/* What is summed up of the endpoint whose rows are read. */
struct sum {
	char *name; /* of its service */
	int kind;
	char *method, *route;
	__u64 total_ns, longest_ns;
	struct point point[POINTS_MAX];
};

static struct window window_of(sqlite3 *db, __u64 last_ns)
{
	const double now = (double)query_now_ns() / NS_PER_SECOND;
	struct window window = {.minutes = (__s64)((last_ns + NS_PER_MINUTE - 1) / NS_PER_MINUTE)};
	__s64 known = busiest_first_minute(db);

	window.step = (window.minutes + POINTS_MAX - 1) / POINTS_MAX;
	window.points = (size_t)((window.minutes + window.step - 1) / window.step);
	window.first = (__s64)now / SECONDS + 1 - (__s64)window.points * window.step;
	known = known > window.first ? known : window.first;
	window.seconds = now - (double)known * SECONDS;
	if (window.seconds < 1) /* the clock was set back */
		window.seconds = 1;
	return window;
}

static bool is_same(const struct sum *sum, sqlite3_stmt *row)
{
	return sum->name && sum->kind == sqlite3_column_int(row, 2) &&
	       !strcmp(sum->name, (const char *)sqlite3_column_text(row, 1)) &&
	       !strcmp(sum->method, (const char *)sqlite3_column_text(row, 3)) &&
	       !strcmp(sum->route, (const char *)sqlite3_column_text(row, 4));
}

static void clear(struct sum *sum)
{
	free(sum->name);
	free(sum->method);
	free(sum->route);
	memset(sum, 0, sizeof(*sum));
}

/* Returns whether there was memory. */
static bool begin(struct sum *sum, sqlite3_stmt *row)
{
	clear(sum);
	sum->name = strdup((const char *)sqlite3_column_text(row, 1));
	sum->kind = sqlite3_column_int(row, 2);
	sum->method = strdup((const char *)sqlite3_column_text(row, 3));
	sum->route = strdup((const char *)sqlite3_column_text(row, 4));
	return sum->name && sum->method && sum->route;
}

static void add_row(struct sum *sum, const struct window *window, sqlite3_stmt *row)
{
	__u64 at = (__u64)(sqlite3_column_int64(row, 0) - window->first) / (__u64)window->step;
	__u64 longest_ns = (__u64)sqlite3_column_int64(row, 8);
	struct point *point = &sum->point[at];

	if (at >= window->points)
		return;
	point->count += (__u64)sqlite3_column_int64(row, 5);
	point->errors += (__u64)sqlite3_column_int64(row, 6);
	sum->total_ns += (__u64)sqlite3_column_int64(row, 7);
	sum->longest_ns = longest_ns > sum->longest_ns ? longest_ns : sum->longest_ns;
	histogram_unpack(&point->durations, sqlite3_column_blob(row, 9),
			 (size_t)sqlite3_column_bytes(row, 9));
}

static void set_number(json_t *object, const char *name, __u64 number)
{
	json_object_set_new(object, name, json_integer((json_int_t)number));
}

/* No request took longer than the longest one, whatever its bucket says. */
static __u64 percentile(const struct histogram *durations, double percent, __u64 longest_ns)
{
	__u64 ns = histogram_percentile(durations, percent);

	return ns < longest_ns ? ns : longest_ns;
}

static void set_points(json_t *object, const struct sum *sum, const struct window *window)
{
	json_t *counts = json_array(), *errors = json_array(), *slow = json_array();

	for (size_t i = 0; i < window->points; i++) {
		const struct point *point = &sum->point[i];
		__u64 p99_ns = percentile(&point->durations, 99, sum->longest_ns);

		json_array_append_new(counts, json_integer((json_int_t)point->count));
		json_array_append_new(errors, json_integer((json_int_t)point->errors));
		json_array_append_new(slow, json_integer((json_int_t)p99_ns));
	}
	json_object_set_new(
	    object, "points",
	    json_pack("{so,so,so}", "count", counts, "errors", errors, "p99_ns", slow));
}

static void merge(struct point *all, const struct point *point)
{
	all->count += point->count;
	all->errors += point->errors;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		all->durations.count[i] += point->durations.count[i];
	all->durations.total += point->durations.total;
}

static json_t *sum_json(const struct sum *sum, const struct window *window)
{
	json_t *object = json_object();
	struct point all = {};

	for (size_t i = 0; i < window->points; i++)
		merge(&all, &sum->point[i]);
	json_set_text(object, "service", sum->name);
	json_set_text(object, "kind", span_kind_name(sum->kind));
	json_set_text(object, "method", sum->method);
	json_set_text(object, "route", sum->route);
	set_number(object, "count", all.count);
	set_number(object, "errors", all.errors);
	json_object_set_new(object, "rate", json_real((double)all.count / window->seconds));
	set_number(object, "mean_ns", all.count ? sum->total_ns / all.count : 0);
	set_number(object, "p50_ns", percentile(&all.durations, 50, sum->longest_ns));
	set_number(object, "p99_ns", percentile(&all.durations, 99, sum->longest_ns));
	set_number(object, "max_ns", sum->longest_ns);
	set_points(object, sum, window);
	return object;
}

/* All rows, which are those of one endpoint after the other. Returns whether they were read. */
static bool read_rows(sqlite3_stmt *rows, const struct window *window, json_t *endpoints)
{
	_cleanup_free_ struct sum *sum = calloc(1, sizeof(*sum));
	bool whole = sum;
	int result = SQLITE_DONE;

	while (whole && json_array_size(endpoints) < ENDPOINTS_MAX &&
	       (result = sqlite3_step(rows)) == SQLITE_ROW) {
		if (sum->name && !is_same(sum, rows))
			json_array_append_new(endpoints, sum_json(sum, window));
		if (!is_same(sum, rows))
			whole = begin(sum, rows);
		if (whole)
			add_row(sum, window, rows);
	}
	if (whole && sum->name && json_array_size(endpoints) < ENDPOINTS_MAX)
		json_array_append_new(endpoints, sum_json(sum, window));
	if (sum)
		clear(sum);
	return whole && result != SQLITE_ERROR && result != SQLITE_INTERRUPT;
}

static json_t *window_json(const struct window *window)
{
	return json_pack("{sI,sI,sI,sf,so}", "from", (json_int_t)(window->first * SECONDS), "step",
			 (json_int_t)(window->step * SECONDS), "points", (json_int_t)window->points,
			 "seconds", window->seconds, "endpoints", json_array());
}

static void answer(sqlite3 *db, const struct window *window, struct reply *reply)
{
	json_t *document = window_json(window);
	sqlite3_stmt *rows = NULL;
	bool read = sqlite3_prepare_v2(db, rows_sql, -1, &rows, NULL) == SQLITE_OK;

	if (read) {
		sqlite3_bind_int64(rows, 1, window->first);
		read = read_rows(rows, window, json_object_get(document, "endpoints"));
	}
	if (read) {
		api_reply(reply, document);
	} else {
		json_decref(document);
		api_failed(reply, db);
	}
	sqlite3_finalize(rows);
}

void api_endpoints(const struct web_options *options, struct request *request, struct reply *reply)
{
	struct window window;
	__u64 last_ns;
	sqlite3 *db;

	if (api_last(request, reply, LAST_NS, &last_ns))
		return;
	db = api_open(options, reply);
	if (!db)
		return;
	window = window_of(db, last_ns);
	answer(db, &window, reply);
	api_close(db);
}
