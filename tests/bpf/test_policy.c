// SPDX-License-Identifier: Apache-2.0
/* Rules of a policy: which request gets a header, and when a change takes hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "policy.h"
#include "rules.h"
#include "topics.h"

#define MARKED "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN  "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static struct conn conn;

static void is_injected(struct rig *rig)
{
	conn_send(&conn, MARKED);
	expect_counts(rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
	conn_ack_all(&conn);
	rig_forget_counts(rig);
}

static void is_left(struct rig *rig, enum ctxprop_reason reason)
{
	conn_send(&conn, PLAIN);
	assert_int_equal(rig_count(rig, reason), 1);
	assert_int_equal(rig_count(rig, REASON_INJECTED), 0);
	conn_ack_all(&conn);
	rig_forget_counts(rig);
}

struct rule_case {
	const char *policy;
	enum ctxprop_reason reason; /* REASON_INJECTED: it gets a header */
};

static const struct rule_case rule_cases[] = {
    {"policy add action skip", REASON_SKIPPED},
    {"policy add action observe", REASON_OBSERVED},
    {"policy add action inject root no", REASON_ROOTLESS},
    {"policy add action inject", REASON_INJECTED},
    {"policy add dir forward action skip", REASON_INJECTED},
    {"policy add dir in action ignore", REASON_INJECTED},
    {"policy add port 80 action skip", REASON_SKIPPED},
    {"policy add port 81 action skip", REASON_INJECTED},
    {"policy add dev lo action skip", REASON_SKIPPED},
    {"policy add dev eth9 action skip", REASON_INJECTED},
    {"policy add cgroup /a action skip", REASON_INJECTED},
    {"policy add to 8.0.2.0/24 action skip", REASON_SKIPPED},
    {"policy add from 8.0.2.0/24 action skip", REASON_INJECTED},
    {"policy add to !8.0.0.0/8 action skip", REASON_INJECTED},
    {"set near add 8.0.0.0/8 fd00::/8\npolicy add to !near action skip", REASON_INJECTED},
    {"set near add 8.0.0.0/8 fd00::/8\npolicy add to near action skip", REASON_SKIPPED},
    {"policy add host a action skip", REASON_SKIPPED},
    {"policy add host b action skip", REASON_INJECTED},
    {"policy add host *.a action skip", REASON_INJECTED},
    {"policy add port 80 to 8.0.2.2 action inject\npolicy add action skip", REASON_INJECTED},
};

static void test_rules(void **state)
{
	struct rig *rig = *state;

	for (size_t i = 0; i < sizeof(rule_cases) / sizeof(rule_cases[0]); i++) {
		const struct rule_case *the = &rule_cases[i];

		rules_follow(rig, the->policy);
		conn_open(&conn, rig, &ordinary);
		rig_forget_counts(rig);
		if (the->reason == REASON_INJECTED)
			is_injected(rig);
		else
			is_left(rig, the->reason);
	}
	rules_none(rig);
}

/* A change takes hold on a live connection at its next request; offsets stay. */
static void test_change(void **state)
{
	struct rig *rig = *state;

	rules_none(rig);
	conn_open(&conn, rig, &ordinary);
	rig_forget_counts(rig);
	is_injected(rig);
	for (int i = 0; i < 20; i++) {
		rules_follow(rig, "policy add port 80 action skip");
		is_left(rig, REASON_SKIPPED);
		is_left(rig, REASON_SKIPPED);
		rules_follow(rig, "policy add port 81 action skip");
		is_injected(rig);
		is_injected(rig);
	}
	rules_follow(rig, "policy add port 80 action observe");
	is_left(rig, REASON_OBSERVED);
	rules_none(rig);
	is_injected(rig);
}

/* A remembered rule is not asked for again: the image may even be gone from under it. */
static void test_remembered(void **state)
{
	struct rig *rig = *state;
	struct flow f;

	rules_follow(rig, "policy add port 80 action skip");
	conn_open(&conn, rig, &ordinary);
	assert_int_equal(conn_flow(&conn).policy, 0);
	rig_forget_counts(rig);
	is_left(rig, REASON_SKIPPED);
	f = conn_flow(&conn);
	assert_int_not_equal(f.policy, 0);
	is_left(rig, REASON_SKIPPED);
	assert_int_equal(conn_flow(&conn).policy, f.policy);
	rules_none(rig);
}

/* By host each request is judged by itself; what cannot be read is left alone. */
static void test_hosts(void **state)
{
	struct rig *rig = *state;

	rules_follow(rig, "policy add host *.example.com action skip\n"
			  "policy add host b.example.com action inject\n"
			  "policy add to 8.0.0.0/8 host plain action observe");
	conn_open(&conn, rig, &ordinary);
	rig_forget_counts(rig);
	for (int i = 0; i < 3; i++) {
		is_injected(rig);
		conn_send(&conn, "GET / HTTP/1.1\r\nX: 1\r\nhost: A.Example.com:80\r\n\r\n");
		expect_counts(rig, {REASON_SKIPPED, 1}, {REASON_SEQ, 1});
		conn_send(&conn, "GET / HTTP/1.1\r\nHost: plain\r\n\r\n");
		expect_counts(rig, {REASON_OBSERVED, 1}, {REASON_SEQ, 1});
		conn_send(&conn, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
		expect_counts(rig, {REASON_HOST_UNKNOWN, 1}, {REASON_SEQ, 1});
		conn_ack_all(&conn);
		rig_forget_counts(rig);
		assert_int_equal(conn_flow(&conn).policy, 0);
	}
	/* Two requests in one packet. */
	conn_send(&conn, "GET / HTTP/1.1\r\nHost: x.example.com\r\n\r\n" MARKED);
	assert_int_equal(rig_count(rig, REASON_SKIPPED), 1);
	assert_int_equal(rig_count(rig, REASON_INJECTED), 1);
	conn_ack_all(&conn);
	rig_forget_counts(rig);
	/* Rules before those for hosts settle it, for all requests. */
	rules_follow(rig, "policy add port 80 action skip\npolicy add host a action inject");
	is_left(rig, REASON_SKIPPED);
	assert_int_not_equal(conn_flow(&conn).policy, 0);
	rules_none(rig);
}

#define SPLIT_RULES "policy add host *.example.com action skip"

static const char split_head[] =
    "GET http HTTP/1.1\r\nX: y\r\nHost: A.Example.com:80\r\nY: z\r\n\r\n";

/* Write a text that gets no header, without sending it. Returns its offset. */
static size_t write_plain(const char *text)
{
	return stream_write(&conn.stream, text, strlen(text));
}

/* The request that was sent is counted so, and all of it acknowledged. */
static void was_left(struct rig *rig, enum ctxprop_reason reason)
{
	assert_int_equal(rig_count(rig, reason), 1);
	assert_int_equal(rig_count(rig, REASON_INJECTED), 0);
	conn_ack_all(&conn);
	rig_forget_counts(rig);
}

/* The packets of a head, however it is cut, know its host together; some bytes come twice. */
static void test_split_heads(void **state)
{
	struct rig *rig = *state;
	size_t length = strlen(split_head);

	rules_follow(rig, SPLIT_RULES);
	for (size_t second = 1; second < length; second += 2) {
		conn_open(&conn, rig, &ordinary);
		rig_forget_counts(rig);
		for (size_t first = 1; first <= second; first += 3) {
			size_t begin = write_plain(split_head);

			conn_transmit(&conn, begin, begin + first);
			conn_transmit(&conn, begin + first / 2, begin + second);
			conn_transmit(&conn, begin + second, begin + length);
			was_left(rig, REASON_SKIPPED);
		}
		is_injected(rig);
	}
	rules_none(rig);
}

/* What is kept of a head is not taken for another one's, and not for more than it is. */
static void test_other_heads(void **state)
{
	struct rig *rig = *state;
	size_t begin, cut = 20;

	rules_none(rig);
	conn_open(&conn, rig, &ordinary);
	rig_forget_counts(rig);
	/* A rule that was made when half of the head had passed. */
	begin = write_plain(split_head);
	conn_transmit(&conn, begin, begin + cut);
	rules_follow(rig, SPLIT_RULES);
	conn_transmit(&conn, begin + cut, conn.stream.len);
	was_left(rig, REASON_HOST_UNKNOWN);
	/* Two fields, one in each packet. */
	begin = write_plain("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
	conn_transmit(&conn, begin, begin + 26);
	conn_transmit(&conn, begin + 26, conn.stream.len);
	was_left(rig, REASON_HOST_UNKNOWN);
	/* A head that was begun on another connection of the same addresses and numbers. */
	begin = write_plain(split_head);
	conn_transmit(&conn, begin, begin + cut);
	conn_open(&conn, rig, &ordinary);
	rig_forget_counts(rig);
	is_injected(rig);
	rules_none(rig);
}

/* Each request is counted by what decides it: here, as it was not given one, a rule has the counter
 * of the built-in one. */
static void test_hits(void **state)
{
	struct rig *rig = *state;
	uint64_t before = rules_hits(rig, POLICY_OUT);

	rules_none(rig);
	conn_open(&conn, rig, &ordinary);
	rig_forget_counts(rig);
	is_injected(rig);
	assert_int_equal(rules_hits(rig, POLICY_OUT), before + 1);
	rules_follow(rig, "policy add action skip");
	is_left(rig, REASON_SKIPPED);
	is_left(rig, REASON_SKIPPED);
	assert_int_equal(rules_hits(rig, POLICY_OUT), before + 3);
	/* No rule decides what is not known. */
	rules_follow(rig, "policy add host a action skip");
	conn_send(&conn, "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n");
	was_left(rig, REASON_HOST_UNKNOWN);
	assert_int_equal(rules_hits(rig, POLICY_OUT), before + 3);
	rules_none(rig);
}

int test_policy(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_rules),       cmocka_unit_test(test_change),
	    cmocka_unit_test(test_remembered),  cmocka_unit_test(test_hosts),
	    cmocka_unit_test(test_split_heads), cmocka_unit_test(test_other_heads),
	    cmocka_unit_test(test_hits),
	};

	return cmocka_run_group_tests(tests, rig_setup, rig_teardown);
}
