// SPDX-License-Identifier: Apache-2.0
/* What of a store of spans belongs to the time of a profile, and how it is read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sqlite3.h>

#include "profile/take/requests.h"
#include "trace/schema.h"

#define FROM_NS 1000000000000LL
#define TO_NS   1060000000000LL
#define MS      1000000LL

/* Of SQLite's machine, in one transaction: some tens of milliseconds. */
#define STEPS_MAX 600000

static sqlite3 *new_store(void)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(schema_bring_up(db), 0);
	assert_int_equal(sqlite3_exec(db,
				      "INSERT INTO services (id, name, container) VALUES (1, "
				      "'shop', ''), (2, 'cart', '')",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	return db;
}

/* Rows of spans; number `n` of them, from 1 on, is in the SQL that makes the values. */
static void add(sqlite3 *db, int count, int service, const char *route, int kind,
		const char *end_ns, const char *duration_ns)
{
	char sql[1024];

	snprintf(sql, sizeof(sql),
		 "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers"
		 " WHERE n < %d) INSERT INTO spans (trace_id, span_id, kind, start_ns,"
		 " duration_ns, service_id, method, route, outcome, error, local_address,"
		 " local_port, remote_address, remote_port, netns, reused, forwarded)"
		 " SELECT randomblob(16), randomblob(8), %d, (%s) - (%s), (%s), %d, 'GET', '%s',"
		 " 'answered', 0, '', 0, '', 0, 1, 0, 0 FROM numbers",
		 count, kind, end_ns, duration_ns, duration_ns, service, route);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
}

static const struct endpoint *find(const struct requests *requests, const char *service,
				   const char *name)
{
	const struct endpoint *endpoint = requests_endpoints(requests);

	while (endpoint &&
	       (strcmp(endpoint->name, name) != 0 || strcmp(endpoint->service, service) != 0))
		endpoint = endpoint->next;
	return endpoint;
}

static void those_that_ended_meanwhile(void **state)
{
	sqlite3 *db = new_store();
	struct requests *requests;
	const struct endpoint *one;

	(void)state;
	add(db, 50, 1, "/before", 2, "1000000000000 - n", "5");
	/* Durations of 1 to 1000 ms, in no order. */
	add(db, 1000, 1, "/a", 2, "1000000000000 + n * 1000000",
	    "((n * 619) % 1000 + 1) * 1000000");
	add(db, 7, 1, "/a", 3, "1000000000000 + n", "77");
	add(db, 1, 2, "/a", 2, "1000000000000", "900000000000");
	add(db, 1, 2, "/a", 2, "1060000000000", "3");
	add(db, 10, 1, "/behind", 2, "1060000000000 + n", "5");
	requests = requests_read(db, FROM_NS, TO_NS);
	assert_non_null(requests);
	one = find(requests, "shop", "GET /a");
	assert_non_null(one);
	assert_int_equal(one->requests, 1000);
	assert_int_equal(one->up_to_ns[LATENCY_P50], 500 * MS);
	assert_int_equal(one->up_to_ns[LATENCY_P90], 900 * MS);
	assert_int_equal(one->up_to_ns[LATENCY_P99], 990 * MS);
	assert_int_equal(one->up_to_ns[LATENCY_MAX], 1000 * MS);
	one = find(requests, "cart", "GET /a");
	assert_non_null(one);
	assert_int_equal(one->requests, 2);
	assert_int_equal(one->up_to_ns[LATENCY_P50], 3);
	assert_int_equal(one->up_to_ns[LATENCY_P90], 900000000000);
	assert_null(find(requests, "shop", "GET /before"));
	assert_null(find(requests, "shop", "GET /behind"));
	requests_free(requests);
	sqlite3_close(db);
}

/* The steps of the longest statement. */
static int note_steps(unsigned int what, void *data, void *statement, void *ns)
{
	const int steps = sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
	int *most = data;

	(void)what;
	(void)ns;
	*most = steps > *most ? steps : *most;
	return 0;
}

static void in_short_transactions(void **state)
{
	sqlite3 *db = new_store();
	struct requests *requests;
	int most = 0;

	(void)state;
	add(db, 60000, 1, "/before", 2, "900000000000 + n", "5");
	add(db, 120000, 1, "/a", 2, "1000000000000 + n", "n");
	sqlite3_trace_v2(db, SQLITE_TRACE_PROFILE, note_steps, &most);
	requests = requests_read(db, FROM_NS, TO_NS);
	assert_non_null(requests);
	assert_int_equal(find(requests, "shop", "GET /a")->requests, 120000);
	assert_in_range(most, 1, STEPS_MAX);
	requests_free(requests);
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(those_that_ended_meanwhile),
	    cmocka_unit_test(in_short_transactions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
