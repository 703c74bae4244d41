// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/clock.h"
#include "trace/query.h"
#include "trace/store_bounds.h"
#include "trace/store_shares.h"

#define ROWS          20000  /* at once, at most: some tens of milliseconds */
#define ROWS_MIN      500    /* at once of a small store; of others a sixteenth */
#define PAGES         2048   /* given back at once: 8 MiB of the usual pages */
#define ENDPOINT_ROWS 200000 /* of the table `endpoints`: some tens of megabytes */
#define ENDPOINT_SIZE 512    /* bytes of such a row: they may have a quarter of the store */
#define LOG_MIN       (16ULL << 20)

/* The id behind the first so many rows of a table: rows of single owners may be gone in between. */
#define ROW_BEHIND(table)                                                                          \
	"coalesce((SELECT id FROM " table " ORDER BY id LIMIT 1 OFFSET %d), 1 << 62)"

static int run(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : -EIO;
}

static __u64 ask(sqlite3 *db, const char *sql)
{
	return (__u64)query_number(db, sql);
}

static bool is_too_large(sqlite3 *db, const struct store_limits *limits)
{
	__u64 pages = ask(db, "PRAGMA page_count") - ask(db, "PRAGMA freelist_count");

	return pages * ask(db, "PRAGMA page_size") > limits->bytes;
}

/* Names that nothing in the store has any longer. */
static int remove_names(sqlite3 *db, bool *ret_names)
{
	int before = sqlite3_total_changes(db);
	int err =
	    run(db, "DELETE FROM services WHERE"
		    " NOT EXISTS (SELECT 1 FROM spans WHERE service_id = services.id)"
		    " AND NOT EXISTS (SELECT 1 FROM connections WHERE service_id = services.id)"
		    " AND NOT EXISTS (SELECT 1 FROM endpoints WHERE service_id = services.id)");

	*ret_names = !err && sqlite3_total_changes(db) != before;
	if (*ret_names)
		err = run(db, "DELETE FROM service_attributes WHERE service_id NOT IN"
			      " (SELECT id FROM services)");
	return err;
}

/* Remove the oldest minute; used when nothing else is left to remove. */
static int remove_minute(sqlite3 *db)
{
	return run(db, "DELETE FROM endpoints WHERE minute = (SELECT min(minute) FROM endpoints)");
}

static __u64 endpoint_rows(const struct store_limits *limits)
{
	const __u64 rows = limits->bytes / 4 / ENDPOINT_SIZE;

	return rows < ENDPOINT_ROWS ? rows : ENDPOINT_ROWS;
}

/* What is known of endpoints stays when their spans had to make room. */
static int remove_minutes(sqlite3 *db, const struct store_limits *limits, __u64 oldest_ns)
{
	char sql[192];

	snprintf(sql, sizeof(sql),
		 "DELETE FROM endpoints WHERE minute < max(%llu, coalesce((SELECT minute FROM "
		 "endpoints ORDER BY minute DESC LIMIT 1 OFFSET %llu), 0))",
		 (unsigned long long)(oldest_ns / (60 * NS_PER_SECOND)),
		 (unsigned long long)endpoint_rows(limits));
	return run(db, sql);
}

/* Rows are in the order of their ends. `rows` of them are looked at. Returns as remove_oldest(). */
static int remove_spans(sqlite3 *db, bool too_large, __u64 oldest_ns, int rows)
{
	char condition[192], age[48] = "";

	if (!too_large)
		snprintf(age, sizeof(age), " AND start_ns < %llu", (unsigned long long)oldest_ns);
	snprintf(condition, sizeof(condition), "id < " ROW_BEHIND("spans") "%s", rows, age);
	return store_shares_delete(db, "spans", condition);
}

/*
 * The time before which connections are removed. If the store is too large, those that are older
 * than the oldest span, so that the oldest rows of both tables go first.
 */
static __u64 oldest_connection_ns(sqlite3 *db, bool too_large, __u64 oldest_ns, __u64 now_wall_ns)
{
	__u64 span_ns;

	if (!too_large)
		return oldest_ns;
	span_ns = ask(db, "SELECT start_ns FROM spans ORDER BY id LIMIT 1");
	return span_ns ? span_ns : now_wall_ns;
}

/* Rows are in the order of their ends. As remove_spans(). */
static int remove_connections(sqlite3 *db, __u64 oldest_ns, int rows)
{
	char condition[192];

	snprintf(condition, sizeof(condition),
		 "closed_ns < %llu AND id < " ROW_BEHIND("connections"),
		 (unsigned long long)oldest_ns, rows);
	return store_shares_delete(db, "connections", condition);
}

/* Returns how many spans or connections were removed, or -EIO. */
static int remove_oldest(sqlite3 *db, bool too_large, __u64 oldest_ns, __u64 now_wall_ns, int rows)
{
	const int connections = remove_connections(
	    db, oldest_connection_ns(db, too_large, oldest_ns, now_wall_ns), rows);
	int spans;

	if (connections < 0 || (too_large && connections))
		return connections;
	spans = remove_spans(db, too_large, oldest_ns, rows);
	return spans < 0 ? spans : connections + spans;
}

/* As remove_oldest(), but first of who has more than his share. */
static int remove_some(sqlite3 *db, bool too_large, __u64 oldest_ns, __u64 now_wall_ns, int rows)
{
	const sqlite3_int64 service = too_large ? store_shares_above(db) : 0;
	const int removed = service ? store_shares_remove(db, service, rows) : 0;

	return removed ? removed : remove_oldest(db, too_large, oldest_ns, now_wall_ns, rows);
}

static int rows_at_once(sqlite3 *db)
{
	__u64 rows = ask(db, "SELECT max(id) - min(id) FROM spans") / 16;

	if (rows > ROWS)
		return ROWS;
	return rows > ROWS_MIN ? (int)rows : ROWS_MIN;
}

/* Give free pages back. Returns 1 if the file is too large still, but was made smaller; 0 or -EIO.
 */
static int shrink(sqlite3 *db, const struct store_limits *limits)
{
	__u64 before = ask(db, "PRAGMA page_count"), now;
	char sql[48];
	int err;

	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum(%d)", PAGES);
	err = run(db, sql);
	if (err)
		return err;
	now = ask(db, "PRAGMA page_count");
	/* The file itself gets smaller when the log is written back. */
	if (now < before)
		sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	return now < before && now * ask(db, "PRAGMA page_size") > limits->bytes;
}

int store_bounds_keep(sqlite3 *db, const struct store_limits *limits, __u64 now_wall_ns,
		      bool *ret_names)
{
	__u64 oldest_ns = now_wall_ns - limits->seconds * NS_PER_SECOND;
	bool too_large = is_too_large(db, limits);
	int rows = rows_at_once(db), err;
	int removed = remove_some(db, too_large, oldest_ns, now_wall_ns, rows);

	*ret_names = false;
	err = removed < 0 ? removed : remove_minutes(db, limits, oldest_ns);
	if (!err && too_large && !removed)
		err = remove_minute(db);
	if (!err)
		err = remove_names(db, ret_names);
	if (!err)
		err = shrink(db, limits);
	if (err < 0)
		return err;
	return err || removed >= rows || (removed && too_large);
}

__u64 store_bounds_log(const struct store_limits *limits)
{
	return limits->bytes / 4 > LOG_MIN ? limits->bytes / 4 : LOG_MIN;
}
