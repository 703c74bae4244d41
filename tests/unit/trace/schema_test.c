// SPDX-License-Identifier: Apache-2.0
/* What a store has of connections, and what the views say of few rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "trace/schema.h"
#include "trace/store.h"

static const struct store_limits roomy = {1ULL << 40, 86400};
static char folder[] = "/tmp/ctxprop-schema-XXXXXX", path[64];

static int set_up(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s/*", folder);
	return system(command);
}

static sqlite3_int64 ask(const char *sql)
{
	sqlite3_stmt *statement;
	sqlite3_int64 number;
	char why[64];
	sqlite3 *db = store_open_to_read(path, why, sizeof(why));

	assert_non_null(db);
	assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return number;
}

static struct connection connection_of(__u64 cookie, __u64 closed_ns)
{
	return (struct connection){.record = {.kind = RECORD_CONNECTION,
					      .side = CONNECTION_CLIENT,
					      .cookie = cookie,
					      .opened_ns = closed_ns - 100,
					      .established_ns = closed_ns - 50,
					      .closed_ns = closed_ns,
					      .sent = 5}};
}

static void add_connection(struct store *store, __u64 cookie, __u64 closed_ns, __s64 to_wall_ns)
{
	struct connection connection = connection_of(cookie, closed_ns);

	assert_int_equal(store_add_connection(store, &connection, to_wall_ns), 0);
}

/* Who looks for a trace reads no other spans, in no part of the index. */
static void a_trace_is_searched_for(void **state)
{
	struct store *store;
	sqlite3_stmt *plan;
	char why[64];
	sqlite3 *db;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	store_close(store);
	db = store_open_to_read(path, why, sizeof(why));
	assert_non_null(db);
	assert_int_equal(sqlite3_prepare_v2(db,
					    "EXPLAIN QUERY PLAN SELECT * FROM spans "
					    "WHERE trace_id = ? ORDER BY id",
					    -1, &plan, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_step(plan), SQLITE_ROW);
	assert_non_null(strstr((const char *)sqlite3_column_text(plan, 3), "spans_ids"));
	assert_non_null(strstr((const char *)sqlite3_column_text(plan, 3), "trace_id=?"));
	sqlite3_finalize(plan);
	sqlite3_close(db);
}

/* The same record again, after a crash: the two clocks are read anew. */
static void each_connection_once(void **state)
{
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add_connection(store, 1, 1000, 70);
	add_connection(store, 1, 1000, 71);
	add_connection(store, 1, 2000, 70); /* its program has connected it again */
	add_connection(store, 2, 1000, 70);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM connections"), 3);
	assert_int_equal(ask("SELECT min(closed_ns) FROM connections"), 1070);
	assert_int_equal(ask("SELECT established_ns - opened_ns FROM connections"), 50);
}

static void old_connections_go(void **state)
{
	const struct store_limits limits = {1ULL << 40, 100};
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &limits, &store), 0);
	add_connection(store, 1, 1000000000ULL, 0);
	add_connection(store, 2, 200000000000ULL, 0);
	assert_int_equal(store_flush(store), 0);
	assert_int_equal(store_prune(store, 250000000000ULL), 0);
	assert_int_equal(ask("SELECT max(socket_cookie) + count(*) FROM connections"), 3);
	store_close(store);
}

/* Where there is too much, what is older than all spans goes first. */
static void oldest_goes_first(void **state)
{
	const struct store_limits limits = {1, 86400};
	struct span span = {.kind = SPAN_SERVER, .span_id = 1, .start_ns = 1500, .end_ns = 1600};
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &limits, &store), 0);
	add_connection(store, 1, 1000, 0);
	assert_int_equal(store_add(store, &span, 0), 0);
	add_connection(store, 2, 2000, 0);
	assert_int_equal(store_flush(store), 0);
	assert_true(store_prune(store, 3000) >= 0);
	assert_int_equal(ask("SELECT count(*) FROM connections"), 1);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 1);
	assert_true(store_prune(store, 3000) >= 0);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 0);
	assert_true(store_prune(store, 3000) >= 0);
	assert_int_equal(ask("SELECT count(*) FROM connections"), 0);
	store_close(store);
}

/* Requests and calls; ids of rows count from 1. */
struct moment {
	enum span_kind kind;
	__u32 tgid, tid;
	__u64 start_ns, end_ns;
	__u64 taken_ns; /* 0: not known */
};

static void store_moments(const struct moment *moments, size_t count)
{
	struct store *store;

	assert_int_equal(store_open(path, &roomy, &store), 0);
	for (size_t i = 0; i < count; i++) {
		const struct span span = {.kind = moments[i].kind,
					  .span_id = i + 1,
					  .tgid = moments[i].tgid,
					  .tid = moments[i].tid,
					  .start_ns = moments[i].start_ns,
					  .end_ns = moments[i].end_ns,
					  .taken_ns = moments[i].taken_ns};

		assert_int_equal(store_add(store, &span, 0), 0);
	}
	store_close(store);
}

#define STORE(moments) store_moments(moments, sizeof(moments) / sizeof((moments)[0]))

/* The request that a call is taken to be for; 0: of none. */
static sqlite3_int64 inferred(int call)
{
	char sql[96];

	snprintf(sql, sizeof(sql), "SELECT max(request_id) FROM inferred WHERE call_id = %d", call);
	return ask(sql);
}

static void inferred_by_thread(void **state)
{
	const struct moment moments[] = {
	    {SPAN_SERVER, 10, 11, 1000, 2000, 0}, /* 1 */
	    {SPAN_SERVER, 10, 12, 1100, 2100, 0}, /* 2: of another thread at the same time */
	    {SPAN_CLIENT, 10, 11, 1500, 1600, 0}, /* 3 */
	    {SPAN_CLIENT, 10, 12, 1500, 1600, 0}, /* 4 */
	    {SPAN_CLIENT, 10, 11, 2000, 2050, 0}, /* 5: until the last moment */
	    {SPAN_CLIENT, 10, 12, 2101, 2200, 0}, /* 6: when it is over */
	    {SPAN_CLIENT, 20, 11, 1500, 1600, 0}, /* 7: of another process */
	};

	(void)state;
	STORE(moments);
	assert_int_equal(inferred(3), 1);
	assert_int_equal(inferred(4), 2);
	assert_int_equal(inferred(5), 1);
	assert_int_equal(inferred(6), 0);
	assert_int_equal(inferred(7), 0);
	assert_int_equal(ask("SELECT count(*) FROM inferred WHERE evidence = 'thread'"), 3);
}

static void inferred_only_if_one_is_possible(void **state)
{
	const struct moment moments[] = {
	    {SPAN_SERVER, 10, 11, 1000, 2000, 0}, /* 1 */
	    {SPAN_SERVER, 10, 11, 1100, 2100, 0}, /* 2: of the same thread */
	    {SPAN_CLIENT, 10, 11, 1050, 1060, 0}, /* 3: before that */
	    {SPAN_CLIENT, 10, 11, 1100, 1600, 0}, /* 4 */
	    {SPAN_CLIENT, 10, 11, 2000, 2050, 0}, /* 5: 1 ends in that moment */
	    {SPAN_CLIENT, 10, 11, 2001, 2050, 0}, /* 6 */
	    {SPAN_CLIENT, 10, 13, 1500, 1600, 0}, /* 7: of a thread without request */
	    {SPAN_CLIENT, 10, 13, 2050, 2060, 0}, /* 8: while one of the process is open */
	    {SPAN_CLIENT, 0, 0, 1050, 1060, 0},   /* 9: nobody knows whose */
	};

	(void)state;
	STORE(moments);
	assert_int_equal(inferred(3), 1);
	assert_int_equal(inferred(4), 0);
	assert_int_equal(inferred(5), 0);
	assert_int_equal(inferred(6), 2);
	assert_int_equal(inferred(7), 0);
	assert_int_equal(inferred(8), 2);
	assert_int_equal(inferred(9), 0);
	assert_int_equal(ask("SELECT count(*) FROM inferred WHERE evidence = 'process'"), 1);
}

/* A request that waits while its thread is at another one. */
static void inferred_when_it_is_read(void **state)
{
	const struct moment moments[] = {
	    {SPAN_SERVER, 10, 11, 1000, 2000, 1010}, /* 1 */
	    {SPAN_SERVER, 10, 11, 1100, 3000, 2001}, /* 2: comes meanwhile, and is read behind it */
	    {SPAN_CLIENT, 10, 11, 1005, 1500, 0},    /* 3: before any was read */
	    {SPAN_CLIENT, 10, 11, 1200, 1500, 0},    /* 4 */
	    {SPAN_CLIENT, 10, 11, 2500, 2600, 0},    /* 5 */
	};

	(void)state;
	STORE(moments);
	assert_int_equal(inferred(3), 0);
	assert_int_equal(inferred(4), 1);
	assert_int_equal(inferred(5), 2);
}

/* It came to a port of the process, and nobody knows who has read it. */
static void inferred_with_a_strange_one(void **state)
{
	const struct moment moments[] = {
	    {SPAN_SERVER, 10, 11, 1000, 2000, 0}, /* 1 */
	    {SPAN_SERVER, 0, 0, 1500, 1700, 0},   /* 2 */
	    {SPAN_CLIENT, 10, 11, 1400, 1410, 0}, /* 3 */
	    {SPAN_CLIENT, 10, 11, 1600, 1610, 0}, /* 4: while that one is open */
	    {SPAN_CLIENT, 10, 12, 1600, 1610, 0}, /* 5 */
	    {SPAN_CLIENT, 10, 12, 1800, 1810, 0}, /* 6 */
	};

	(void)state;
	STORE(moments);
	assert_int_equal(inferred(3), 1);
	assert_int_equal(inferred(4), 0);
	assert_int_equal(inferred(5), 0);
	assert_int_equal(inferred(6), 1);
}

/* A thread that has several requests may hand them to others: whose they are is not known. */
static void inferred_where_nobody_hands_on(void **state)
{
	const struct moment moments[] = {
	    {SPAN_SERVER, 10, 11, 1000, 2000, 0}, /* 1 */
	    {SPAN_SERVER, 10, 12, 1100, 1900, 0}, /* 2 */
	    {SPAN_SERVER, 10, 12, 1200, 1800, 0}, /* 3: two at once */
	    {SPAN_SERVER, 10, 12, 1300, 1400, 0}, /* 4: three */
	    {SPAN_SERVER, 20, 11, 1000, 2000, 0}, /* 5: another process */
	    {SPAN_CLIENT, 10, 11, 1150, 1160, 0}, /* 6: before that */
	    {SPAN_CLIENT, 10, 11, 1250, 1260, 0}, /* 7 */
	    {SPAN_CLIENT, 10, 11, 1350, 1360, 0}, /* 8 */
	    {SPAN_CLIENT, 10, 11, 1800, 1900, 0}, /* 9 */
	    {SPAN_CLIENT, 10, 11, 1801, 1900, 0}, /* 10: behind it */
	    {SPAN_CLIENT, 20, 11, 1350, 1360, 0}, /* 11 */
	};

	(void)state;
	STORE(moments);
	assert_int_equal(inferred(6), 1);
	assert_int_equal(inferred(7), 0);
	assert_int_equal(inferred(8), 0);
	assert_int_equal(inferred(9), 0);
	assert_int_equal(inferred(10), 1);
	assert_int_equal(inferred(11), 5);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_trace_is_searched_for),
	    TEST(each_connection_once),
	    TEST(old_connections_go),
	    TEST(oldest_goes_first),
	    TEST(inferred_by_thread),
	    TEST(inferred_only_if_one_is_possible),
	    TEST(inferred_when_it_is_read),
	    TEST(inferred_with_a_strange_one),
	    TEST(inferred_where_nobody_hands_on),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	snprintf(path, sizeof(path), "%s/spans.db", folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	set_up(NULL);
	rmdir(folder);
	return failed;
}
