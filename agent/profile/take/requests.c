// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/unique.h"
#include "profile/take/requests.h"
#include "trace/query.h"
#include "trace/span.h"

/*
 * Rows are read in pieces, the newest ones first, each in a transaction of its own: whoever writes
 * can empty its log in between, and has the time in which nothing is read.
 */
#define PIECE     10000
#define ROWS_MAX  5000000
#define SETTLE_NS 15000000000LL /* rows are in the order of their ends, within this time */

/* An endpoint, and the durations of its requests. */
struct known {
	struct endpoint endpoint; /* the first member: others have a pointer to it */
	__s64 *duration_ns;
	size_t count;
};

struct requests {
	struct endpoint *first;
	struct unique by_words;            /* of the same */
	struct endpoint *none, *not_ended; /* of no request; of one that is not in the store */
	sqlite3_stmt *by_ids;
	__u64 missed;
};

/* How many per cent of the requests are in each part, and those before it. */
static const unsigned int percents[LATENCIES] = {
    [LATENCY_P50] = 50, [LATENCY_P90] = 90, [LATENCY_P99] = 99, [LATENCY_MAX] = 100};

static struct known *known_of(struct endpoint *endpoint)
{
	return (struct known *)endpoint;
}

static void endpoint_free(struct endpoint *endpoint)
{
	free(known_of(endpoint)->duration_ns);
	free(endpoint->name);
	free(endpoint->service);
	free(endpoint);
}

/* What an endpoint is told apart by. */
struct words {
	const char *name, *service;
};

static bool has_words(const void *item, const void *key)
{
	const struct endpoint *endpoint = item;
	const struct words *words = key;

	return !strcmp(endpoint->name, words->name) && !strcmp(endpoint->service, words->service);
}

static struct endpoint *make(struct requests *requests, const struct words *words, __u64 hash)
{
	struct known *known = calloc(1, sizeof(*known));
	struct endpoint *endpoint = &known->endpoint;

	if (!known)
		return NULL;
	endpoint->name = strdup(words->name);
	endpoint->service = strdup(words->service);
	if (!endpoint->name || !endpoint->service ||
	    unique_append(&requests->by_words, hash, endpoint) < 0) {
		endpoint_free(endpoint);
		return NULL;
	}
	endpoint->next = requests->first;
	requests->first = endpoint;
	return endpoint;
}

/* An endpoint of these words, made if it is new. NULL: no memory. */
static struct endpoint *get(struct requests *requests, const char *name, const char *service)
{
	const struct words words = {name, service};
	const __u64 hash = hash_text(hash_text(HASH_BEGIN, name), service);
	struct endpoint *endpoint = unique_find(&requests->by_words, hash, &words);

	return endpoint ? endpoint : make(requests, &words, hash);
}

static const char *text_of(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

/* Columns: method, route, service. */
static struct endpoint *of_row(struct requests *requests, sqlite3_stmt *row)
{
	char method[SPAN_METHOD_MAX], route[SPAN_ROUTE_MAX], service[SERVICE_NAME_MAX];
	char name[sizeof(method) + sizeof(route)];

	foreign_copy(method, sizeof(method), text_of(row, 0));
	foreign_copy(route, sizeof(route), text_of(row, 1));
	foreign_copy(service, sizeof(service), text_of(row, 2));
	snprintf(name, sizeof(name), "%s %s", method, route);
	return get(requests, name, service);
}

/* The time in which requests ended that count, and what is read of it. */
struct reading {
	struct requests *requests;
	sqlite3_stmt *rows;
	__s64 from_ns, to_ns;
	__s64 newest_ns; /* the latest end in a piece */
};

/* Returns whether there was memory. */
static bool add_duration(struct known *known, __s64 duration_ns)
{
	__s64 *more = list_add(&known->duration_ns, &known->count, sizeof(*more));

	if (!more)
		return false;
	*more = duration_ns;
	return true;
}

/* Returns whether there was memory. */
static bool take_row(struct reading *reading)
{
	const __s64 duration_ns = sqlite3_column_int64(reading->rows, 3);
	const __s64 end_ns = sqlite3_column_int64(reading->rows, 4) + duration_ns;
	struct endpoint *endpoint;

	reading->newest_ns = end_ns > reading->newest_ns ? end_ns : reading->newest_ns;
	if (!sqlite3_column_int(reading->rows, 5) || end_ns < reading->from_ns ||
	    end_ns > reading->to_ns)
		return true;
	endpoint = of_row(reading->requests, reading->rows);
	return endpoint && add_duration(known_of(endpoint), duration_ns);
}

/* The rows behind `after`, as many as are a piece. Returns whether they were read. */
static bool read_piece(struct reading *reading, __s64 after)
{
	bool read = true;

	reading->newest_ns = 0;
	sqlite3_bind_int64(reading->rows, 1, after);
	sqlite3_bind_int64(reading->rows, 2, after + PIECE);
	while (read && sqlite3_step(reading->rows) == SQLITE_ROW)
		read = take_row(reading);
	return sqlite3_reset(reading->rows) == SQLITE_OK && read;
}

/* As long again as it took to read. */
static void leave_alone(__u64 since_ns)
{
	const __u64 took_ns = clock_now_ns() - since_ns;
	const struct timespec pause = {.tv_sec = (time_t)(took_ns / NS_PER_SECOND),
				       .tv_nsec = (long)(took_ns % NS_PER_SECOND)};

	nanosleep(&pause, NULL);
}

static bool read_pieces(struct reading *reading, sqlite3 *db)
{
	const __s64 newest = query_newest_row(db);
	const __s64 oldest = newest > ROWS_MAX ? newest - ROWS_MAX : 0;
	__u64 began_ns = clock_now_ns();

	for (__s64 after = newest - PIECE; after > oldest - PIECE; after -= PIECE) {
		if (!read_piece(reading, after))
			return false;
		if (reading->newest_ns < reading->from_ns - SETTLE_NS)
			return true;
		leave_alone(began_ns);
		began_ns = clock_now_ns();
	}
	return true;
}

static int compare(const void *left, const void *right)
{
	const __s64 a = *(const __s64 *)left, b = *(const __s64 *)right;

	return (a > b) - (a < b);
}

/* The longest one of the first so many per cent bounds each part. */
static void divide(struct known *known)
{
	struct endpoint *endpoint = &known->endpoint;
	const size_t count = known->count;

	endpoint->requests = count;
	if (count)
		qsort(known->duration_ns, count, sizeof(*known->duration_ns), compare);
	for (enum latency i = LATENCY_P50; count && i < LATENCIES; i++)
		endpoint->up_to_ns[i] = known->duration_ns[(count * percents[i] + 99) / 100 - 1];
	free(known->duration_ns);
	known->duration_ns = NULL;
	known->count = 0;
}

static bool read_endpoints(struct requests *requests, sqlite3 *db, __s64 from_ns, __s64 to_ns)
{
	static const char sql[] =
	    "SELECT method, route, name, duration_ns, start_ns, kind = 2 FROM spans"
	    " JOIN services ON services.id = service_id WHERE spans.id > ?1 AND spans.id <= ?2";
	struct reading reading = {.requests = requests, .from_ns = from_ns, .to_ns = to_ns};
	bool read = sqlite3_prepare_v2(db, sql, -1, &reading.rows, NULL) == SQLITE_OK &&
		    read_pieces(&reading, db);

	sqlite3_finalize(reading.rows);
	for (struct endpoint *one = requests->first; one; one = one->next)
		divide(known_of(one));
	return read;
}

static bool prepare(struct requests *requests, sqlite3 *db)
{
	static const char sql[] =
	    "SELECT method, route, name, status, duration_ns, pid FROM spans JOIN services ON"
	    " services.id = service_id WHERE trace_id = ? AND span_id = ?";

	return sqlite3_prepare_v2(db, sql, -1, &requests->by_ids, NULL) == SQLITE_OK;
}

static bool add_without_request(struct requests *requests)
{
	requests->none = get(requests, ENDPOINT_NONE, "");
	requests->not_ended = get(requests, "(request not known)", "");
	return requests->none && requests->not_ended;
}

struct requests *requests_read(sqlite3 *db, __s64 from_ns, __s64 to_ns)
{
	struct requests *requests = calloc(1, sizeof(*requests));
	bool done;

	if (requests)
		requests->by_words.same = has_words;
	done = requests && add_without_request(requests);
	if (done && db)
		done = read_endpoints(requests, db, from_ns, to_ns) && prepare(requests, db);
	if (done)
		return requests;
	requests_free(requests);
	return NULL;
}

void requests_free(struct requests *requests)
{
	struct endpoint *next;

	if (!requests)
		return;
	for (struct endpoint *endpoint = requests->first; endpoint; endpoint = next) {
		next = endpoint->next;
		endpoint_free(endpoint);
	}
	unique_free(&requests->by_words);
	sqlite3_finalize(requests->by_ids);
	free(requests);
}

static enum latency latency_of(const struct endpoint *endpoint, __s64 duration_ns)
{
	enum latency latency = LATENCY_P50;

	if (!endpoint->requests)
		return LATENCY_UNKNOWN; /* it ended behind the last sample */
	while (latency < LATENCY_MAX && duration_ns > endpoint->up_to_ns[latency])
		latency++;
	return latency;
}

static bool is_of(sqlite3_stmt *row, pid_t pid)
{
	return pid == REQUEST_OF_ANY ||
	       (sqlite3_column_type(row, 5) != SQLITE_NULL && sqlite3_column_int64(row, 5) == pid);
}

static void look_up(struct requests *requests, const __u8 *trace_id, const __u8 *span_id, pid_t pid,
		    struct profiled_request *request)
{
	sqlite3_stmt *row = requests->by_ids;
	struct endpoint *endpoint = NULL;

	sqlite3_bind_blob(row, 1, trace_id, 16, SQLITE_STATIC);
	sqlite3_bind_blob(row, 2, span_id, 8, SQLITE_STATIC);
	if (sqlite3_step(row) == SQLITE_ROW) {
		endpoint = is_of(row, pid) ? of_row(requests, row) : requests->none;
		request->endpoint = endpoint ? endpoint : request->endpoint;
	}
	if (endpoint && endpoint != requests->none) {
		request->status = (unsigned int)sqlite3_column_int(row, 3);
		request->duration_ns = sqlite3_column_int64(row, 4);
		request->latency = latency_of(endpoint, request->duration_ns);
	}
	sqlite3_reset(row);
}

struct profiled_request requests_find(struct requests *requests, const __u8 trace_id[16],
				      const __u8 span_id[8], pid_t pid)
{
	static const __u8 none[8];
	struct profiled_request request = {.endpoint = requests->not_ended};

	if (!memcmp(span_id, none, sizeof(none)))
		request.endpoint = requests->none;
	else if (requests->by_ids)
		look_up(requests, trace_id, span_id, pid, &request);
	requests->missed += request.endpoint == requests->not_ended;
	return request;
}

__u64 requests_missed(const struct requests *requests)
{
	return requests->missed;
}

const struct endpoint *requests_endpoints(const struct requests *requests)
{
	return requests->first;
}
