// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/unique.h"
#include "trace/histogram.h"
#include "trace/metrics.h"
#include "trace/minutes.h"
#include "trace/shares.h"

#define NS_PER_MINUTE (60 * (__s64)NS_PER_SECOND)

struct endpoint {
	__s64 minute;
	sqlite3_int64 service;
	enum span_kind kind;
	const char *method; /* static */
	char route[SPAN_ROUTE_MAX];
	__u64 count, errors, total_ns, longest_ns;
	struct histogram durations;
	bool is_dirty; /* the table has not all of it */
};

struct minutes {
	sqlite3_stmt *read, *write;
	struct unique endpoints;
	struct shares shares; /* of this memory, not of the table */
	__s64 newest;         /* minute */
	bool has_older;       /* there are rows of a minute that is over */
};

static const char read_sql[] =
    "SELECT count, errors, total_ns, longest_ns, durations FROM endpoints WHERE minute = ? AND "
    "service_id = ? AND kind = ? AND method = ? AND route = ?";
static const char write_sql[] =
    "INSERT OR REPLACE INTO endpoints (minute, service_id, kind, method, route, count, errors, "
    "total_ns, longest_ns, durations) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

static bool is_same(const void *item, const void *key)
{
	const struct endpoint *a = item, *b = key;

	return a->minute == b->minute && a->service == b->service && a->kind == b->kind &&
	       a->method == b->method && !strcmp(a->route, b->route);
}

int minutes_new(sqlite3 *db, struct minutes **ret_minutes)
{
	struct minutes *minutes = calloc(1, sizeof(*minutes));
	const unsigned int flags = SQLITE_PREPARE_PERSISTENT;

	if (!minutes)
		return -ENOMEM;
	minutes->endpoints.same = is_same;
	minutes->shares.room = MINUTES_ENDPOINTS_MAX;
	if (sqlite3_prepare_v3(db, read_sql, -1, flags, &minutes->read, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v3(db, write_sql, -1, flags, &minutes->write, NULL) != SQLITE_OK) {
		minutes_free(minutes);
		return -EIO;
	}
	*ret_minutes = minutes;
	return 0;
}

void minutes_forget(struct minutes *minutes)
{
	if (!minutes)
		return;
	unique_free_all(&minutes->endpoints);
	shares_clear(&minutes->shares);
	minutes->has_older = false;
}

void minutes_free(struct minutes *minutes)
{
	if (!minutes)
		return;
	minutes_forget(minutes);
	sqlite3_finalize(minutes->read);
	sqlite3_finalize(minutes->write);
	free(minutes);
}

static __u64 hash_of(const struct endpoint *key)
{
	__u64 hash = hash_add(HASH_BEGIN, &key->minute, sizeof(key->minute));

	hash = hash_add(hash, &key->service, sizeof(key->service));
	hash = hash_add(hash, &key->kind, sizeof(key->kind));
	hash = hash_text(hash, key->method);
	return hash_text(hash, key->route);
}

static void bind_key(sqlite3_stmt *statement, const struct endpoint *key)
{
	sqlite3_reset(statement);
	sqlite3_bind_int64(statement, 1, key->minute);
	sqlite3_bind_int64(statement, 2, key->service);
	sqlite3_bind_int(statement, 3, (int)key->kind);
	sqlite3_bind_text(statement, 4, key->method, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 5, key->route, -1, SQLITE_STATIC);
}

/* What an earlier daemon, or this one a while ago, has written of it. */
static void read_row(sqlite3_stmt *read, struct endpoint *endpoint)
{
	bind_key(read, endpoint);
	if (sqlite3_step(read) == SQLITE_ROW) {
		endpoint->count = (__u64)sqlite3_column_int64(read, 0);
		endpoint->errors = (__u64)sqlite3_column_int64(read, 1);
		endpoint->total_ns = (__u64)sqlite3_column_int64(read, 2);
		endpoint->longest_ns = (__u64)sqlite3_column_int64(read, 3);
		histogram_unpack(&endpoint->durations, sqlite3_column_blob(read, 4),
				 (size_t)sqlite3_column_bytes(read, 4));
	}
	sqlite3_reset(read);
}

/* NULL: there is no room, or not for this owner. */
static struct endpoint *find(struct minutes *minutes, const struct endpoint *key, const char *owner)
{
	const __u64 hash = hash_of(key);
	struct endpoint *endpoint = unique_find(&minutes->endpoints, hash, key);

	if (endpoint || !shares_take(&minutes->shares, owner))
		return endpoint;
	endpoint = malloc(sizeof(*endpoint));
	if (!endpoint || unique_append(&minutes->endpoints, hash, endpoint) < 0) {
		free(endpoint);
		return NULL;
	}
	*endpoint = *key;
	read_row(minutes->read, endpoint);
	return endpoint;
}

void minutes_add(struct minutes *minutes, const struct span *span, sqlite3_int64 service,
		 __s64 wall_ns)
{
	struct endpoint key = {.minute = wall_ns / NS_PER_MINUTE,
			       .service = service,
			       .kind = span->kind,
			       .method = metrics_method(span->method)};
	__u64 duration_ns = span->end_ns - span->start_ns;
	struct endpoint *endpoint;

	text_copy(key.route, sizeof(key.route), span->route);
	if (key.minute > minutes->newest) {
		minutes->newest = key.minute;
		minutes->has_older = true;
	}
	endpoint = find(minutes, &key, span->service.owner);
	if (!endpoint)
		return;
	endpoint->is_dirty = true;
	endpoint->count++;
	endpoint->errors += span_is_error(span);
	endpoint->total_ns += duration_ns;
	if (duration_ns > endpoint->longest_ns)
		endpoint->longest_ns = duration_ns;
	histogram_add(&endpoint->durations, duration_ns);
}

static int write_row(sqlite3_stmt *write, struct endpoint *endpoint)
{
	__u8 blob[HISTOGRAM_BLOB_MAX];
	size_t size = histogram_pack(&endpoint->durations, blob);
	int result;

	bind_key(write, endpoint);
	sqlite3_bind_int64(write, 6, (sqlite3_int64)endpoint->count);
	sqlite3_bind_int64(write, 7, (sqlite3_int64)endpoint->errors);
	sqlite3_bind_int64(write, 8, (sqlite3_int64)endpoint->total_ns);
	sqlite3_bind_int64(write, 9, (sqlite3_int64)endpoint->longest_ns);
	sqlite3_bind_blob(write, 10, blob, (int)size, SQLITE_STATIC);
	result = sqlite3_step(write);
	sqlite3_reset(write);
	endpoint->is_dirty = false;
	return result == SQLITE_DONE ? 0 : -EIO;
}

int minutes_write(struct minutes *minutes)
{
	int err = 0;

	for (size_t i = 0; !err && i < minutes->endpoints.count; i++) {
		struct endpoint *endpoint = minutes->endpoints.item[i];

		if (endpoint->is_dirty)
			err = write_row(minutes->write, endpoint);
	}
	if (!err && minutes->has_older)
		minutes_forget(minutes);
	return err;
}
