// SPDX-License-Identifier: Apache-2.0
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/requests.h"

#define KIND_SERVER "2"

struct requests {
	struct endpoint *first;
	struct endpoint *none, *not_ended; /* of no request; of one that is not in the store */
	sqlite3_stmt *by_ids;
};

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

static bool count_requests(struct requests *requests, sqlite3 *db, __s64 from_ns, __s64 to_ns)
{
	static const char sql[] = "SELECT method, route, name, count(*) FROM spans JOIN services ON"
				  " services.id = service_id WHERE kind = " KIND_SERVER
				  " AND start_ns BETWEEN ?1 - 86400000000000 AND ?2"
				  " AND start_ns + duration_ns BETWEEN ?1 AND ?2 GROUP BY 1, 2, 3";
	sqlite3_stmt *rows = NULL;
	bool read = sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK;
	int result = SQLITE_DONE;

	if (read) {
		sqlite3_bind_int64(rows, 1, from_ns);
		sqlite3_bind_int64(rows, 2, to_ns);
	}
	while (read && (result = sqlite3_step(rows)) == SQLITE_ROW) {
		struct endpoint *endpoint = of_row(requests, rows);

		read = endpoint;
		if (endpoint)
			endpoint->requests += (__u64)sqlite3_column_int64(rows, 3);
	}
	sqlite3_finalize(rows);
	return read && result == SQLITE_DONE;
}

static bool prepare(struct requests *requests, sqlite3 *db)
{
	static const char sql[] = "SELECT method, route, name FROM spans JOIN services ON"
				  " services.id = service_id WHERE trace_id = ? AND span_id = ?";

	return sqlite3_prepare_v2(db, sql, -1, &requests->by_ids, NULL) == SQLITE_OK;
}

static bool add_without_request(struct requests *requests)
{
	requests->none = get(requests, "(no request)", "");
	requests->not_ended = get(requests, "(request not ended)", "");
	return requests->none && requests->not_ended;
}

struct requests *requests_read(sqlite3 *db, __s64 from_ns, __s64 to_ns)
{
	struct requests *requests = calloc(1, sizeof(*requests));
	bool done = requests && add_without_request(requests);

	if (done && db)
		done = count_requests(requests, db, from_ns, to_ns) && prepare(requests, db);
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

static struct endpoint *look_up(struct requests *requests, const __u8 *trace_id,
				const __u8 *span_id)
{
	struct endpoint *endpoint = NULL;

	sqlite3_bind_blob(requests->by_ids, 1, trace_id, 16, SQLITE_STATIC);
	sqlite3_bind_blob(requests->by_ids, 2, span_id, 8, SQLITE_STATIC);
	if (sqlite3_step(requests->by_ids) == SQLITE_ROW)
		endpoint = of_row(requests, requests->by_ids);
	sqlite3_reset(requests->by_ids);
	return endpoint;
}

struct endpoint *requests_find(struct requests *requests, const __u8 trace_id[16],
			       const __u8 span_id[8])
{
	static const __u8 none[8];
	struct endpoint *endpoint;

	if (!memcmp(span_id, none, sizeof(none)))
		return requests->none;
	endpoint = requests->by_ids ? look_up(requests, trace_id, span_id) : NULL;
	return endpoint ? endpoint : requests->not_ended;
}

const struct endpoint *requests_endpoints(const struct requests *requests)
{
	return requests->first;
}

bool endpoint_fits(const struct endpoint *endpoint, const char *pattern)
{
	const char *route = endpoint->name + strcspn(endpoint->name, "/");

	return !pattern || !fnmatch(pattern, endpoint->name, 0) || !fnmatch(pattern, route, 0);
}
