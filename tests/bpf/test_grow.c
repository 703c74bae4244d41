// SPDX-License-Identifier: Apache-2.0
/* Requests that fit into their packet together with the header: it grows in place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "topics.h"

static struct conn conn;

static void a_request_gets_its_header_before_the_blank_line(void **state)
{
	struct rig *rig = *state;

	conn_open(&conn, rig, &ordinary);
	conn_send(&conn, "GET / HTTP/1.1\r\nHost: a\r\n^\r\n");
	expect_counts(rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
	conn_ack_all(&conn);
	expect_counts(rig, {REASON_ACK, 1});
	conn_send(&conn, "GET / HTTP/1.1\r\nHost: a\r\n^\r\n");
	expect_counts(rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
}

int test_grow(void)
{
	const struct CMUnitTest grow[] = {
	    cmocka_unit_test(a_request_gets_its_header_before_the_blank_line),
	};

	return cmocka_run_group_tests(grow, rig_setup, rig_teardown);
}
