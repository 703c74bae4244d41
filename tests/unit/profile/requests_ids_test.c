// SPDX-License-Identifier: Apache-2.0
/* Whose request ids name, by whose they are said to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "profile/take/requests.h"
#include "trace/schema.h"

enum { SERVER = 4711, OTHER = 4712 };

static const __u8 trace[16] = {1}, span[8] = {2}, without_process[8] = {3}, unknown[8] = {4};
static sqlite3 *db;
static struct requests *requests;

/* The store has a request of the server, and one of which no process is known. */
static int set_up(void **state)
{
	static const char sql[] =
	    "INSERT INTO services (id, name, container) VALUES (1, 'victim', '');"
	    "INSERT INTO spans (trace_id, span_id, kind, start_ns, duration_ns, service_id, method,"
	    " route, status, outcome, error, local_address, local_port, remote_address, "
	    "remote_port,"
	    " netns, pid, reused, forwarded)"
	    " SELECT x'01000000000000000000000000000000', span, 2, 1000, 500, 1, 'GET', '/job', "
	    "200,"
	    " 'ok', 0, '', 1, '', 2, 1, pid, 0, 0 FROM (SELECT x'0200000000000000' AS span,"
	    " 4711 AS pid UNION ALL SELECT x'0300000000000000', NULL)";

	(void)state;
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(schema_bring_up(db), 0);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	requests = requests_read(db, 0, 10000);
	assert_non_null(requests);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	requests_free(requests);
	return sqlite3_close(db);
}

static struct profiled_request find(const __u8 *span_id, pid_t pid)
{
	return requests_find(requests, trace, span_id, pid);
}

static void of_the_process_itself(void **state)
{
	const struct profiled_request own = find(span, SERVER);

	(void)state;
	assert_string_equal(own.endpoint->name, "GET /job");
	assert_string_equal(own.endpoint->service, "victim");
	assert_int_equal(own.status, 200);
	assert_int_equal(own.duration_ns, 500);
	assert_int_equal(own.latency, LATENCY_P50);
}

/* Who was called got the ids as well, and shows them: his work is not the caller's. */
static void of_another_process(void **state)
{
	const struct profiled_request others = find(span, OTHER);

	(void)state;
	assert_true(endpoint_is_none(others.endpoint->name));
	assert_int_equal(others.status, 0);
	assert_int_equal(others.duration_ns, 0);
	assert_int_equal(others.latency, LATENCY_UNKNOWN);
	assert_int_equal(requests_missed(requests), 0);
}

static void of_whoever_the_engine_names(void **state)
{
	(void)state;
	assert_string_equal(find(span, REQUEST_OF_ANY).endpoint->name, "GET /job");
	assert_string_equal(find(without_process, REQUEST_OF_ANY).endpoint->name, "GET /job");
}

static void of_no_known_process(void **state)
{
	(void)state;
	assert_true(endpoint_is_none(find(without_process, SERVER).endpoint->name));
	assert_true(endpoint_is_none(find(without_process, 0).endpoint->name));
}

static void not_in_the_store(void **state)
{
	(void)state;
	assert_false(endpoint_is_none(find(unknown, SERVER).endpoint->name));
	assert_int_equal(requests_missed(requests), 1);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    CASE(of_the_process_itself),
	    CASE(of_another_process),
	    CASE(of_whoever_the_engine_names),
	    CASE(of_no_known_process),
	    CASE(not_in_the_store),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
