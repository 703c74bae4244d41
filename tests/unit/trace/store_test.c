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
#include <time.h>
#include <unistd.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "trace/query_limits.h"
#include "trace/schema.h"
#include "trace/store.h"
#include "trace/store_sink.h"

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

static void give(const struct sink *sink, __u64 first, unsigned int count)
{
	for (__u64 id = first; id < first + count; id++) {
		struct span span = span_of(id, (__u64)time(NULL) * 1000000000ULL);

		sink->span(sink->data, &span, 0);
	}
	sink->flush(sink->data, false);
}

/* A few spans are there at once; more wait for each other, for a second at most. */
static void written_together(void **state)
{
	struct sink sink;

	(void)state;
	assert_int_equal(store_sink_open(path, &roomy, &sink), 0);
	give(&sink, 1, 1000); /* nothing was written for a second */
	assert_int_equal(ask("SELECT count(*) FROM spans"), 1000);
	give(&sink, 1001, 1000);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 1000);
	usleep(1100000);
	give(&sink, 2001, 1);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 2001);
	give(&sink, 2002, 1);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 2002);
	give(&sink, 2003, 1000);
	sink.close(sink.data);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 3002);
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

/* The index of ids has parts: a span that is there in one is not stored in the next one. */
static void each_once_in_all_parts(void **state)
{
	const unsigned int rows = (1 << SCHEMA_RUN_BITS) + 10;
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, 1, rows, 0);
	store_close(store);
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add(store, rows - 40, 60, 0);
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM spans"), rows + 19);
	assert_int_equal(ask("SELECT count(DISTINCT span_id) FROM spans"), rows + 19);
	assert_int_equal(ask("SELECT sum(count) FROM endpoints"), rows + 19);
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

/* A span of a service of its own, which somebody runs. */
static void add_named(struct store *store, __u64 id, const char *name, const char *owner)
{
	struct span span = span_of(id, 0);

	span.tgid = (__u32)id;
	snprintf(span.service.name, sizeof(span.service.name), "%s", name);
	snprintf(span.service.owner, sizeof(span.service.owner), "%s", owner);
	memset(span.service.attributes, 'x', sizeof(span.service.attributes) / 2);
	memcpy(span.service.attributes, "key=", 4);
	assert_int_equal(store_add(store, &span, 0), 0);
}

/* Names go when nothing has them any longer; one owner has a share of them. */
static void names_go(void **state)
{
	const __u64 later_ns = 2 * 86400 * 1000000000ULL;
	struct store *store;
	char name[32];

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	for (__u64 id = 1; id <= 2500; id++) {
		snprintf(name, sizeof(name), "stranger-%llu", (unsigned long long)id);
		add_named(store, id, name, "uid 1000");
	}
	add_named(store, 3000, "shop", "uid 33");
	assert_int_equal(store_flush(store), 0);
	assert_int_equal(ask("SELECT count(*) FROM spans"), 2501);
	assert_in_range(ask("SELECT count(*) FROM services WHERE owner = 'uid 1000'"), 100, 600);
	assert_in_range(ask("SELECT count(*) FROM spans JOIN services ON services.id = service_id"
			    " WHERE name = '_OTHER'"),
			1900, 2400);
	assert_int_equal(ask("SELECT count(*) FROM services WHERE name = 'shop'"), 1);
	while (store_prune(store, later_ns) > 0)
		;
	assert_int_equal(ask("SELECT count(*) FROM spans"), 0);
	assert_int_equal(ask("SELECT count(*) FROM services"), 0);
	assert_int_equal(ask("SELECT count(*) FROM service_attributes"), 0);
	add_named(store, 4000, "shop", "uid 33");
	store_close(store);
	assert_int_equal(ask("SELECT count(*) FROM spans JOIN services ON services.id = service_id"
			     " WHERE name = 'shop'"),
			 1);
}

#define NOON_NS 1000000000000000ULL /* later than spans are kept */

/* So many spans that somebody has made since noon. `path_of`: of requests. */
static void add_owned(struct store *store, __u64 first, unsigned int count, const char *owner,
		      const char *path_of)
{
	for (__u64 id = first; id < first + count; id++) {
		struct span span = span_of(id, NOON_NS + id);

		snprintf(span.service.name, sizeof(span.service.name), "of %s", owner);
		snprintf(span.service.owner, sizeof(span.service.owner), "%s", owner);
		snprintf(span.path, sizeof(span.path), "%s", path_of);
		assert_int_equal(store_add(store, &span, 0), 0);
	}
	assert_int_equal(store_flush(store), 0);
}

static void add_connections(struct store *store, __u64 first, unsigned int count, const char *owner)
{
	for (__u64 id = first; id < first + count; id++) {
		struct connection connection = {
		    .record = {.kind = RECORD_CONNECTION, .cookie = id, .closed_ns = NOON_NS + id}};

		snprintf(connection.service.name, sizeof(connection.service.name), "of %s", owner);
		snprintf(connection.service.owner, sizeof(connection.service.owner), "%s", owner);
		assert_int_equal(store_add_connection(store, &connection, 0), 0);
	}
	assert_int_equal(store_flush(store), 0);
}

static void prune_all(struct store *store)
{
	int more = 1;

	for (int i = 0; i < 400 && more > 0; i++)
		more = store_prune(store, NOON_NS + 1000000);
	assert_int_equal(more, 0);
}

#define OF_VICTIM "FROM spans JOIN services ON services.id = service_id WHERE owner = 'victim'"
#define VICTIMS   300

/* Where the store is too large whoever has most of it gives way, not who came first. */
static void floods_push_nobody_out(void **state)
{
	const struct store_limits limits = {2 << 20, 86400};
	char long_path[SPAN_PATH_MAX];
	struct store *store;
	__u64 id = 1;

	(void)state;
	memset(long_path, 'x', sizeof(long_path) - 1);
	long_path[sizeof(long_path) - 1] = '\0';
	assert_int_equal(store_open(path, &limits, &store), 0);
	add_owned(store, id, VICTIMS, "victim", "/");
	for (int round = 0; round < 8; round++) {
		add_owned(store, id += 5000, 3000, "a stranger", round % 2 ? "/" : long_path);
		prune_all(store);
		add_connections(store, id, 3000, "a stranger");
		prune_all(store);
		add_owned(store, id += 5000, 3000, "a second one", "/");
		prune_all(store);
	}
	assert_int_equal(ask("SELECT count(*) " OF_VICTIM), VICTIMS);
	assert_in_range(ask("SELECT count(*) FROM spans"), 2 * VICTIMS, 12000);
	store_close(store);
}

/* Who has no neighbours, or few, has the whole store; and all that is too old goes. */
static void shares_are_for_others(void **state)
{
	const struct store_limits limits = {2 << 20, 86400};
	const __u64 later_ns = 2 * NOON_NS;
	struct store *store;
	sqlite3_int64 alone;

	(void)state;
	assert_int_equal(store_open(path, &limits, &store), 0);
	add_owned(store, 1, 20000, "the only one", "/");
	prune_all(store);
	alone = ask("SELECT count(*) FROM spans");
	assert_in_range(alone, 4000, 20000);
	assert_int_equal(ask("SELECT min(start_ns) FROM spans") + alone, NOON_NS + 20001);
	add_owned(store, 30000, 10, "victim", "/");
	add_owned(store, 40000, 20000, "the only one", "/");
	prune_all(store);
	assert_int_equal(ask("SELECT count(*) " OF_VICTIM), 10);
	assert_in_range(ask("SELECT count(*) FROM spans"), alone / 2, alone + 500);
	while (store_prune(store, later_ns) > 0)
		;
	assert_int_equal(ask("SELECT count(*) FROM spans"), 0);
	assert_int_equal(ask("SELECT count(*) FROM services"), 0);
	store_close(store);
}

/* What an owner has is what his rows have: by texts, once for each row, also when they go. */
static void bytes_of_owners(void **state)
{
	struct store *store;

	(void)state;
	assert_int_equal(store_open(path, &roomy, &store), 0);
	add_owned(store, 1, 10, "victim", "/0123456789");
	add_owned(store, 5, 6, "victim", "/0123456789"); /* the same ones */
	add_connections(store, 1, 2, "victim");
	assert_int_equal(ask("SELECT bytes FROM services"), 10 * (235 + 11) + 2 * 235);
	store_close(store);
	assert_int_equal(store_open(path, &(struct store_limits){1, 86400}, &store), 0);
	prune_all(store);
	assert_int_equal(ask("SELECT coalesce(sum(bytes), 0) FROM services"), 0);
	store_close(store);
}

/* What is known of a minute makes room, too, where there is nothing else. */
static void minutes_make_room(void **state)
{
	const struct store_limits limits = {1 << 20, 86400};
	struct store *store;
	char name[32];

	(void)state;
	assert_int_equal(store_open(path, &limits, &store), 0);
	for (__u64 id = 1; id <= 5000; id++) {
		struct span span = span_of(id, (10000 + id / 50) * 60000000000ULL);

		snprintf(name, sizeof(name), "/r%llu", (unsigned long long)id);
		strcpy(span.route, name);
		assert_int_equal(store_add(store, &span, 0), 0);
		if (id % 50 == 0)
			assert_int_equal(store_flush(store), 0);
	}
	for (int turns = 0; store_prune(store, 606000000000000ULL) > 0; turns++)
		assert_in_range(turns, 0, 1000);
	store_close(store);
	assert_in_range(ask("SELECT count(*) FROM endpoints"), 100, 600);
	assert_in_range(ask("SELECT count(*) FROM spans"), 1000, 5000);
	assert_in_range(
	    ask("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"), 0,
	    1 << 20);
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

/* Readers on behalf of others give way before the log is too long. */
static void a_reader_that_gives_way(void **state)
{
	const struct store_limits limits = {1 << 20, 86400};
	const struct query_limits forever = {.until_ns = UINT64_MAX};
	sqlite3_stmt *endless;
	struct store *store;
	sqlite3 *reader;
	int result = SQLITE_ROW;

	(void)state;
	assert_int_equal(store_open(path, &limits, &store), 0);
	add(store, 1, 1000, 0);
	assert_int_equal(sqlite3_open(path, &reader), SQLITE_OK);
	query_limit(reader, &forever);
	assert_int_equal(sqlite3_prepare_v2(reader,
					    "SELECT * FROM spans AS a, spans AS b, spans AS c", -1,
					    &endless, NULL),
			 SQLITE_OK);
	for (__u64 round = 1; round < 50; round++) {
		for (int i = 0; i < 1000 && result == SQLITE_ROW; i++)
			result = sqlite3_step(endless);
		if (result == SQLITE_INTERRUPT)
			sqlite3_reset(endless);
		assert_int_equal(try_to_add(store, round * 2000, 2000), 0);
	}
	assert_int_equal(result, SQLITE_INTERRUPT);
	sqlite3_finalize(endless);
	assert_int_equal(store_flush(store),
			 0); /* nothing comes, and the log is emptied all the same */
	assert_int_equal(
	    sqlite3_prepare_v2(reader, "SELECT sum(error) FROM spans", -1, &endless, NULL),
	    SQLITE_OK);
	assert_int_equal(sqlite3_step(endless), SQLITE_ROW);
	sqlite3_finalize(endless);
	sqlite3_close(reader);
	store_close(store);
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

static void of_another_version(void **state)
{
	static const int versions[] = {SCHEMA_VERSION - 1, SCHEMA_VERSION + 1};
	struct store *store;
	char sql[40];
	sqlite3 *db;

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		snprintf(sql, sizeof(sql), "PRAGMA user_version = %d", versions[i]);
		assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), 0);
		sqlite3_close(db);
		assert_int_equal(store_open(path, &roomy, &store), -EPROTO);
		assert_int_equal(ask("PRAGMA user_version"), versions[i]);
	}
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(by_the_minute),
	    TEST(written_together),
	    TEST(known_of_services),
	    TEST(each_once),
	    TEST(each_once_in_all_parts),
	    TEST(unsampled_ones),
	    TEST(of_its_owner),
	    TEST(one_writer),
	    TEST(old_ones_go),
	    TEST(too_much_goes),
	    TEST(names_go),
	    TEST(floods_push_nobody_out),
	    TEST(shares_are_for_others),
	    TEST(bytes_of_owners),
	    TEST(minutes_make_room),
	    TEST(a_reader_that_stays),
	    TEST(a_reader_that_gives_way),
	    TEST(a_stranger_that_locks),
	    TEST(removed),
	    TEST(damaged),
	    TEST(of_another_version),
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
