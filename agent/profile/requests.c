// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/requests.h"

/* Requests are looked for by when they began: this long before their end at most. */
#define LONGEST_NS 600000000000LL

struct requests {
	struct endpoint *first;
	struct endpoint *none, *not_ended; /* of no request; of one that is not in the store */
	sqlite3_stmt *by_ids;
	__u64 missed;
};

static const struct {
	const char *name;
	unsigned int percent;
} latencies[LATENCIES] = {
    [LATENCY_UNKNOWN] = {"", 0}, [LATENCY_P50] = {"p50", 50},  [LATENCY_P90] = {"p90", 90},
    [LATENCY_P99] = {"p99", 99}, [LATENCY_MAX] = {"max", 100},
};

const char *latency_name(enum latency latency)
{
	return latencies[latency].name;
}

int latency_parse(const char *name, enum latency *ret)
{
	for (enum latency i = LATENCY_P50; i < LATENCIES; i++)
		if (!strcmp(name, latencies[i].name)) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

static void endpoint_free(struct endpoint *endpoint)
{
	free(endpoint->name);
	free(endpoint->service);
	free(endpoint);
}

/* An endpoint of these words, made if it is new. NULL: no memory. */
static struct endpoint *get(struct requests *requests, const char *name, const char *service)
{
	struct endpoint *endpoint = requests->first;

	while (endpoint &&
	       (strcmp(endpoint->name, name) != 0 || strcmp(endpoint->service, service) != 0))
		endpoint = endpoint->next;
	if (endpoint)
		return endpoint;
	endpoint = calloc(1, sizeof(*endpoint));
	if (!endpoint)
		return NULL;
	endpoint->name = strdup(name);
	endpoint->service = strdup(service);
	if (endpoint->name && endpoint->service) {
		endpoint->next = requests->first;
		requests->first = endpoint;
		return endpoint;
	}
	endpoint_free(endpoint);
	return NULL;
}

static const char *text_of(sqlite3_stmt *row, int column)
{
	const char *text = (const char *)sqlite3_column_text(row, column);

	return text ? text : "";
}

/* Columns: method, route, service. */
static struct endpoint *of_row(struct requests *requests, sqlite3_stmt *row)
{
	char name[1024];

	snprintf(name, sizeof(name), "%s %s", text_of(row, 0), text_of(row, 1));
	return get(requests, name, text_of(row, 2));
}

/*
 * The next row is of the endpoint's request number `number`, of `count`, by duration. The longest
 * one of the first so many per cent bounds that part.
 */
static void take_duration(struct endpoint *endpoint, __s64 number, __s64 count, __s64 duration_ns)
{
	endpoint->requests = (__u64)count;
	for (enum latency i = LATENCY_P50; i < LATENCIES; i++)
		if (number == (count * latencies[i].percent + 99) / 100)
			endpoint->up_to_ns[i] = duration_ns;
}

/* Only the few rows that bound a part leave the database. */
static bool read_endpoints(struct requests *requests, sqlite3 *db, __s64 from_ns, __s64 to_ns)
{
	static const char sql[] =
	    "WITH ended AS (SELECT method, route, name, duration_ns,"
	    " row_number() OVER (PARTITION BY method, route, name ORDER BY duration_ns) AS number,"
	    " count(*) OVER (PARTITION BY method, route, name) AS count"
	    " FROM spans JOIN services ON services.id = service_id WHERE kind = 2"
	    " AND start_ns BETWEEN ?1 - ?3 AND ?2 AND start_ns + duration_ns BETWEEN ?1 AND ?2)"
	    " SELECT method, route, name, number, count, duration_ns FROM ended WHERE number IN"
	    " ((count * 50 + 99) / 100, (count * 90 + 99) / 100, (count * 99 + 99) / 100, count)";
	sqlite3_stmt *rows = NULL;
	bool read = sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK;
	int result = SQLITE_DONE;

	sqlite3_bind_int64(rows, 1, from_ns);
	sqlite3_bind_int64(rows, 2, to_ns);
	sqlite3_bind_int64(rows, 3, LONGEST_NS);
	while (read && (result = sqlite3_step(rows)) == SQLITE_ROW) {
		struct endpoint *endpoint = of_row(requests, rows);

		read = endpoint;
		if (endpoint)
			take_duration(endpoint, sqlite3_column_int64(rows, 3),
				      sqlite3_column_int64(rows, 4), sqlite3_column_int64(rows, 5));
	}
	sqlite3_finalize(rows);
	return read && result == SQLITE_DONE;
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
	bool done = requests && add_without_request(requests);

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

bool endpoint_fits(const struct endpoint *endpoint, const char *pattern)
{
	const char *route = endpoint->name + strcspn(endpoint->name, "/");

	return !fnmatch(pattern, endpoint->name, 0) || !fnmatch(pattern, route, 0);
}

bool endpoint_is_none(const char *name)
{
	return !strcmp(name, ENDPOINT_NONE);
}

const struct endpoint *requests_endpoints(const struct requests *requests)
{
	return requests->first;
}
