// SPDX-License-Identifier: Apache-2.0
/* The store: each span once, old ones go, a damaged file is moved aside, a newer one is left alone.
 */
#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "trace/store.h"

static const struct store_limits roomy = {1ULL << 40, 86400};
static char folder[] = "/tmp/ctxprop-store-XXXXXX", path[64];

static int set_up(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s/*", folder);
	return system(command);
}

static struct span span_of(__u64 id, __u64 start_ns)
{
	return (struct span){.kind = SPAN_SERVER,
			     .trace_flags = 1, /* sampled */
			     .trace_id = {1},
			     .span_id = id,
			     .start_ns = start_ns,
			     .end_ns = start_ns + 1000,
			     .status = 200};
}

static void add(struct store *store, __u64 first, unsigned int count, __u64 start_ns)
{
	for (__u64 id = first; id < first + count; id++) {
		struct span span = span_of(id, start_ns);

		assert_int_equal(store_add(store, &span, 0), 0);
	}
	assert_int_equal(store_flush(store), 0);
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

/* Endpoints are counted by the minute, by one daemon after the other; no span twice. */
static void by_the_minute(void **state)
{
	static const __u64 minute_ns = 60000000000ULL;
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, 10, 0);
	add(store, 1, 10, 0); /* the same ones */
	add(store, 11, 3, minute_ns);
	store_close(store);
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 14, 4, minute_ns);
	add(store, 18, 1, 0); /* a late one */
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM endpoints"), 2);
	assert_int_equal(ask("SELECT count FROM endpoints WHERE minute = 0"), 11);
	assert_int_equal(ask("SELECT count FROM endpoints WHERE minute = 1"), 7);
	assert_int_equal(ask("SELECT total_ns FROM endpoints WHERE minute = 1"), 7000);
	assert_int_equal(ask("SELECT length(durations) FROM endpoints WHERE minute = 1"), 5);
	assert_int_equal(store_open(path, &roomy, &store), 0);
	assert_int_equal(store_prune(store, (86400 + 60) * 1000000000ULL), 0);
	store_close(store);
	assert_int_equal(ask("SELECT min(minute) FROM endpoints"), 1);
}

/* Traces that are not sampled count, too: once, also where they are kept. */
static void unsampled_ones(void **state)
{
	struct store *store;
	struct span span;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, 10, 0);
	for (__u64 id = 11; id < 16; id++) {
		span = span_of(id, 0);
		span.trace_flags = 0;
		assert_int_equal(store_count(store, &span, 0), 0);
	}
	assert_int_equal(store_add(store, &span, 0), 0);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 11);
	assert_int_equal(ask("SELECT count FROM endpoints"), 15);
}

/* What is known of a service is a JSON object, the newest one. */
static void known_of_services(void **state)
{
	struct span span = span_of(1, 0);
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	assert_int_equal(store_add(store, &span, 0), 0);
	span.span_id++;
	strcpy(span.service.name, "shop");
	strcpy(span.service.attributes, "k8s.pod.uid=1\n");
	assert_int_equal(store_add(store, &span, 0), 0);
	span.span_id++;
	strcpy(span.service.attributes, "k8s.pod.uid=2\nnote=a \"b\" \xef\xbf\xbd=\n");
	assert_int_equal(store_add(store, &span, 0), 0);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM services"), 2);
	assert_int_equal(ask("SELECT count(*) FROM service_attributes"), 1);
	assert_int_equal(
	    ask("SELECT count(*) FROM service_attributes JOIN services ON id = "
		"service_id WHERE name = 'shop' AND attributes ->> '$.note' = "
		"'a \"b\" \xef\xbf\xbd=' AND attributes ->> '$.\"k8s.pod.uid\"' = '2'"),
	    1);
}

static void each_once(void **state)
{
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, 100, 0);
	add(store, 50, 100, 0);
	store_close(store);
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, 10, 0);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 149);
	assert_int_equal(ask("SELECT count(*) FROM services"), 1);
}

/* Whoever may look into its directory reads nothing of it. */
static void of_its_owner(void **state)
{
	static const char *const endings[] = {"", "-wal", "-shm", "-lock"};
	struct store *store;
	struct stat file;
	char part[96];

	(void)state;
	umask(0);
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, 1, 0);
	for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
		snprintf(part, sizeof(part), "%s%s", path, endings[i]);
		assert_int_equal(stat(part, &file), 0);
		assert_int_equal(file.st_mode & 0777, 0600);
	}
	store_close(store);
}

static void one_writer(void **state)
{
	struct store *store, *other;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	assert_int_equal(store_open(path, &roomy, &other), -EBUSY);
	store_close(store);
	assert_int_equal(store_open(path, &roomy, &other), 0);
	store_close(other);
}

static void old_ones_go(void **state)
{
	const struct store_limits limits = {1ULL << 40, 100};
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &limits, &store), 0);
	add(store, 1, 10, 1000000000ULL);
	add(store, 11, 10, 200000000000ULL);
	assert_int_equal(store_prune(store, 250000000000ULL), 0);
	assert_int_equal(ask("SELECT min(span_id IS NOT NULL) + count(*) FROM spans"), 11);
	store_close(store);
}

static void too_much_goes(void **state)
{
	const struct store_limits limits = {1 << 20, 86400};
	struct store *store;
	struct stat file;
	int more = 1;

	(void)state;
	assert_int_equal(store_open(path, &limits, &store), 0);
	for (int round = 0; round < 20; round++)
		add(store, (__u64)round * 5000 + 1, 5000, 0);
	assert_int_equal(stat(path, &file), 0);
	assert_in_range(file.st_size, 4 << 20, 1 << 30);
	for (int i = 0; i < 200 && more > 0; i++)
		more = store_prune(store, 1000);
	assert_int_equal(more, 0);
	store_close(store);
	assert_int_equal(stat(path, &file), 0);
	assert_in_range(file.st_size, 0, 1 << 20);
}

/* Add so many spans and flush. Returns what came of the last of them. */
static int try_to_add(struct store *store, __u64 first, unsigned int count)
{
	int err = 0;

	for (__u64 id = first; !err && id < first + count; id++) {
		struct span span = span_of(id, 0);

		err = store_add(store, &span, 0);
	}
	return err ? err : store_flush(store);
}

/* A reader that keeps a transaction open keeps the log, too: it has a limit, and is emptied later.
 */
static void a_reader_that_stays(void **state)
{
	const struct store_limits limits = {1 << 20, 86400};
	struct store *store;
	struct stat file;
	__u64 round = 1;
	char log[96];
	sqlite3 *reader;

	(void)state;
	snprintf(log, sizeof(log), "%s-wal", path);
	assert_int_equal(store_open(path, &limits, &store), 0);
	add(store, 1, 10, 0);
	assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
	assert_int_equal(sqlite3_exec(reader, "BEGIN; SELECT * FROM spans", NULL, NULL, NULL), 0);
	while (round < 100 && !try_to_add(store, round * 5000, 5000))
		round++;
	assert_in_range(round, 5, 99);
	assert_int_equal(try_to_add(store, 1000000, 1), -EBUSY);
	assert_int_equal(stat(log, &file), 0);
	assert_in_range(file.st_size, 15 << 20, 24 << 20);
	sqlite3_close(reader);
	assert_int_equal(try_to_add(store, 1000000, 1), 0);
	assert_int_equal(stat(log, &file), 0);
	assert_in_range(file.st_size, 0, 1 << 20);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM spans WHERE hex(span_id) = '40420F0000000000'"),
			 1);
}

/* Another program that writes: what comes meanwhile is lost, nothing else is. */
static void a_stranger_that_locks(void **state)
{
	struct store *store;
	sqlite3 *stranger;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, 10, 0);
	assert_int_equal(sqlite3_open(path, &stranger), SQLITE_OK);
	assert_int_equal(sqlite3_exec(stranger, "BEGIN EXCLUSIVE", NULL, NULL, NULL), 0);
	assert_int_equal(try_to_add(store, 11, 1), -EBUSY);
	assert_int_equal(sqlite3_exec(stranger, "ROLLBACK", NULL, NULL, NULL), 0);
	add(store, 12, 1, 0);
	sqlite3_close(stranger);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 11);
}

static void removed(void **state)
{
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, 10, 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(store_prune(store, 1000), 0);
	add(store, 11, 3, 0);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 3);
}

static void damaged(void **state)
{
	struct store *store;
	glob_t aside;
	char pattern[96];
	FILE *file = fopen(path, "w");

	(void)state;
	for (int i = 0; i < 1000; i++)
		fputs("this is no database", file);
	fclose(file);
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, 10, 0);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 10);
	snprintf(pattern, sizeof(pattern), "%s-damaged-*", path);
	assert_int_equal(glob(pattern, 0, NULL, &aside), 0);
	assert_int_equal(aside.gl_pathc, 1);
	globfree(&aside);
}

static void of_a_newer_build(void **state)
{
	struct store *store;
	sqlite3 *db;

	(void)state;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 1000", NULL, NULL, NULL), 0);
	sqlite3_close(db);
	assert_int_equal(store_open(path, &roomy, &store), -EPROTO);
	assert_int_equal(ask("PRAGMA user_version"), 1000);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(by_the_minute),         TEST(known_of_services), TEST(each_once),
	    TEST(unsampled_ones),        TEST(of_its_owner),      TEST(one_writer),
	    TEST(old_ones_go),           TEST(too_much_goes),     TEST(a_reader_that_stays),
	    TEST(a_stranger_that_locks), TEST(removed),           TEST(damaged),
	    TEST(of_a_newer_build),
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
