// SPDX-License-Identifier: Apache-2.0
/* Who calls whom, out of spans: one edge for one call, whatever ids it carried. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "trace/edges.h"

static const char tables[] = "CREATE TABLE services (id INTEGER PRIMARY KEY, name TEXT);"
			     "INSERT INTO services VALUES (1, 'nginx'), (2, 'shop'), (3, 'client');"
			     "CREATE TABLE spans (id INTEGER PRIMARY KEY, kind, span_id, "
			     "parent_id, service_id, local_address,"
			     " local_port, remote_address, remote_port, position, host, error "
			     "DEFAULT 0, duration_ns DEFAULT 5,"
			     " start_ns DEFAULT 100)";

/* "CALLER>CALLEE COUNT", in order, with a blank behind each. */
static const char *edges_of(const char *rows)
{
	static char told[256];
	struct edges edges;
	sqlite3 *db;

	told[0] = '\0';
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, tables, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, rows, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(edges_read(db, 0, &edges), 0);
	for (size_t i = 0; i < edges.count; i++)
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s>%s %llu ",
			 edges.edge[i]->from_outside ? "~" : "", edges.edge[i]->caller,
			 edges.edge[i]->callee, edges.edge[i]->count);
	edges_free(&edges);
	sqlite3_close(db);
	return told;
}

#define INTO                                                                                       \
	"INSERT INTO spans (kind, span_id, parent_id, service_id, local_address, local_port, "     \
	"remote_address, remote_port, position, host) VALUES "
#define SERVED(parent, service, remote, port, position)                                            \
	"(2, x'00000000000000ff', " parent ", " service ", '10.0.0.9', 80, '" remote "', " port    \
	", " position ", NULL)"
#define CALLED(id, parent, service, local, port, position)                                         \
	"(3, " id ", " parent ", " service ", '" local "', " port ", '10.0.0.9', 80, " position    \
	", 'h')"

#define P "x'1111111111111111'"
#define C "x'2222222222222222'"

/* The caller's caller is outside; the proxy hands on what that has sent. */
static void handed_on(void **state)
{
	(void)state;
	assert_string_equal(
	    edges_of(INTO SERVED(P, "1", "10.9.9.1", "4000", "77") "," CALLED(
		C, P, "1", "10.0.0.1", "5000", "88") "," SERVED(P, "2", "10.0.0.1", "5000", "88")),
	    "nginx>shop 1 ~10.9.9.1>nginx 1 ");
}

/* It is on this host, too: each of the requests that name its call is one call's. */
static void handed_on_within(void **state)
{
	(void)state;
	assert_string_equal(
	    edges_of(INTO CALLED(P, "NULL", "3", "10.0.0.2", "4000", "77") "," SERVED(
		P, "2", "10.0.0.1", "5000", "88") "," CALLED(C, P, "1", "10.0.0.1", "5000",
							     "88") "," SERVED(P, "1", "10.0.0.2",
									      "4000", "77")),
	    "nginx>shop 1 client>nginx 1 ");
	/* The same where what began where is not known of the client's call. */
	assert_string_equal(
	    edges_of(INTO CALLED(P, "NULL", "3", "10.0.0.2", "4000", "NULL") "," SERVED(
		P, "2", "10.0.0.1", "5000", "88") "," CALLED(C, P, "1", "10.0.0.1", "5000",
							     "88") "," SERVED(P, "1", "10.0.0.2",
									      "4000", "77")),
	    "nginx>shop 1 client>nginx 1 ");
}

/* By ids: stores of version 1, and addresses that were changed on the way. */
static void by_ids(void **state)
{
	(void)state;
	assert_string_equal(
	    edges_of(INTO CALLED(C, "NULL", "1", "10.0.0.1", "5000",
				 "NULL") "," SERVED(C, "2", "10.0.0.1", "5000", "NULL")),
	    "nginx>shop 1 ");
	assert_string_equal(
	    edges_of(INTO CALLED(C, "NULL", "1", "10.0.0.1", "5000",
				 "88") "," SERVED(C, "2", "10.7.7.7", "6000", "88")),
	    "nginx>shop 1 ");
	assert_string_equal(
	    edges_of(INTO CALLED(C, "NULL", "1", "10.0.0.1", "5000",
				 "88") "," SERVED(P, "2", "10.7.7.7", "6000", "99")),
	    "nginx>h 1 ~10.7.7.7>shop 1 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(handed_on),
					   cmocka_unit_test(handed_on_within),
					   cmocka_unit_test(by_ids)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
