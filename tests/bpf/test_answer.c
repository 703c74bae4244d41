// SPDX-License-Identifier: Apache-2.0
/* Answers that decide how it goes on: Upgrade, and the interim ones before them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "topics.h"

#define GET     "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define UPGRADE "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n^\r\n"
#define UPGRADE_POST                                                                               \
	"POST /p HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n"                   \
	"Content-Length: 5\r\n^\r\n"
#define SWITCHING "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
#define CONTINUE  "HTTP/1.1 100 Continue\r\n\r\n"
#define OK        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"

static struct conn conn;

static void open_and_ask(struct rig *rig)
{
	conn_open(&conn, rig, &ordinary);
	conn_send(&conn, UPGRADE);
	expect_counts(rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
}

static void expect_opaque(struct rig *rig)
{
	assert_int_equal(rig_count(rig, REASON_UPGRADED), 1);
	assert_int_equal(conn_flow(&conn).opaque_reason, REASON_UPGRADED);
	rig_forget_counts(rig);
	conn_send(&conn, PLAIN);
	expect_counts(rig, {REASON_SEQ, 1});
}

static void an_upgrade_that_is_granted(void **state)
{
	open_and_ask(*state);
	conn_answer(&conn, SWITCHING);
	expect_opaque(*state);
}

static void an_upgrade_that_is_refused(void **state)
{
	open_and_ask(*state);
	conn_answer(&conn, OK);
	rig_forget_counts(*state);
	conn_send(&conn, GET);
	expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
}

static void an_upgrade_after_interim_answers(void **state)
{
	open_and_ask(*state);
	conn_answer(&conn, CONTINUE CONTINUE);
	assert_false(conn_flow(&conn).flags & FLOW_OPAQUE);
	conn_answer(&conn, SWITCHING);
	expect_opaque(*state);

	open_and_ask(*state);
	conn_answer(&conn, CONTINUE OK);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
}

/* The answer may be cut anywhere, and come with what follows it. */
static void an_answer_in_two_packets(void **state)
{
	static const char *const answers[] = {SWITCHING "frame", OK, CONTINUE SWITCHING};

	for (size_t i = 0; i < 3; i++) {
		for (size_t cut = 1; cut < strlen(answers[i]); cut++) {
			char first[100];

			memcpy(first, answers[i], cut);
			first[cut] = 0;
			open_and_ask(*state);
			conn_answer(&conn, first);
			conn_answer(&conn, answers[i] + cut);
			assert_int_equal(rig_count(*state, REASON_UPGRADED), i != 1);
		}
	}
}

static void a_request_before_the_answer(void **state)
{
	open_and_ask(*state);
	conn_send(&conn, PLAIN);
	assert_int_equal(rig_count(*state, REASON_UPGRADED), 1);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
}

static void an_upgrade_behind_an_unanswered_request(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_send(&conn, UPGRADE);
	assert_int_equal(conn_flow(&conn).opaque_reason, REASON_UPGRADED);
	conn_answer(&conn, OK);
	conn_send(&conn, PLAIN);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
}

static void an_upgrade_later_on_the_connection(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, OK);
	conn_send(&conn, UPGRADE);
	conn_answer(&conn, OK);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 3);
}

/* The head of a later Upgrade may come in two packets: the one before was answered. */
static void an_upgrade_later_in_two_packets(void **state)
{
	size_t from;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, OK);
	from = stream_write_marked(&conn.stream, UPGRADE);
	conn_transmit(&conn, from, from + 20);
	conn_transmit(&conn, from + 20, conn.stream.len);
	conn_answer(&conn, OK);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 3);
}

/* TCP has sent the request before it again while the answer to that was on its way. */
static void an_upgrade_behind_a_request_that_is_sent_again(void **state)
{
	struct segment again, want;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, OK);
	/* The header in it was acknowledged, and is forgotten; so are the bytes. */
	again = want = conn_segment(&conn, 0, conn.stream.len);
	want.seq += LINE_LEN;
	conn_expect(&conn, &again, &want);
	conn_send(&conn, UPGRADE);
	conn_answer(&conn, OK);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 3);
}

/* An answer that comes twice is none to the request that has been sent meanwhile. */
static void an_upgrade_behind_an_older_answer(void **state)
{
	struct incoming in = {.data = OK};

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	in.ack = stream_to_wire(&conn.stream, conn.stream.len);
	conn_answer(&conn, OK);
	conn_send(&conn, GET);
	conn.peer_next -= strlen(OK);
	conn_receive(&conn, &in);
	conn_send(&conn, UPGRADE);
	assert_int_equal(conn_flow(&conn).opaque_reason, REASON_UPGRADED);
}

static void the_answer_comes_again(void **state)
{
	uint8_t options[40];
	struct segment s, want;
	struct incoming in = {.data = OK};

	open_and_ask(*state);
	in.ack = stream_to_wire(&conn.stream, conn.stream.len);
	s = want = conn_incoming(&conn, &in, options);
	conn_answer(&conn, OK);
	want.ack -= LINE_LEN;
	want.window = conn_app_window(&conn, s.window, s.ack - conn.stream.first);
	conn_expect(&conn, &s, &want);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
}

/* The head alone decided it: the body comes behind the answer, as of an h2c that nobody wants. */
static void an_upgrade_that_is_refused_before_its_body(void **state)
{
	conn_open(&conn, *state, &ordinary);
	for (int i = 0; i < 3; i++) {
		conn_send(&conn, UPGRADE_POST);
		conn_answer(&conn, OK);
		conn_send(&conn, "12");
		conn_send(&conn, "345");
		conn_ack_all(&conn);
	}
	conn_send(&conn, GET);
	conn_answer(&conn, OK);
	conn_send(&conn, UPGRADE);
	conn_answer(&conn, SWITCHING);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 5);
	expect_opaque(*state);
}

/* But a request behind that body is not answered yet, or an interim answer was none. */
static void an_upgrade_behind_one_that_was_refused_before_its_body(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, UPGRADE_POST);
	conn_answer(&conn, OK);
	conn_send(&conn, "12345");
	conn_send(&conn, GET);
	conn_send(&conn, UPGRADE);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 3);
	expect_opaque(*state);

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, UPGRADE_POST);
	conn_answer(&conn, CONTINUE);
	conn_send(&conn, "12345");
	conn_send(&conn, PLAIN);
	expect_opaque(*state);
}

/* A part of the awaited answer is missing: it may have been the 101. It can still come; the next
 * request cannot wait for it. */
static void an_answer_with_a_hole(void **state)
{
	open_and_ask(*state);
	conn.peer_next += 10;
	conn_answer(&conn, OK);
	conn_send(&conn, PLAIN);
	expect_opaque(*state);
}

/* The peer has sent both answers, and the first one came late. */
static void answer_in_reverse(const char *interim, const char *final)
{
	conn.peer_next += strlen(interim);
	conn_answer(&conn, final);
	conn.peer_next -= strlen(interim) + strlen(final);
	conn_answer(&conn, interim);
	conn.peer_next += strlen(final);
}

static void a_final_answer_before_its_interim_one(void **state)
{
	open_and_ask(*state);
	answer_in_reverse(CONTINUE, OK);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 1);

	open_and_ask(*state);
	answer_in_reverse(CONTINUE, SWITCHING);
	expect_opaque(*state);
}

/* What looked like an answer was none: it stands within a head, or behind more that is missing. */
static void an_early_answer_in_no_place(void **state)
{
	open_and_ask(*state);
	answer_in_reverse("HTTP/1.1 100 Continue\r\nLong: ", OK);
	conn_send(&conn, PLAIN);
	expect_opaque(*state);

	open_and_ask(*state);
	conn.peer_next += 2 * strlen(CONTINUE);
	conn_answer(&conn, OK);
	conn.peer_next -= strlen(CONTINUE CONTINUE OK);
	conn_answer(&conn, CONTINUE);
	conn_send(&conn, PLAIN);
	expect_opaque(*state);
}

/* Its status is all that matters: what comes behind it may be late. */
static void an_answer_whose_rest_is_out_of_order(void **state)
{
	open_and_ask(*state);
	conn_answer(&conn, "HTTP/1.1 200 OK\r\n");
	conn.peer_next += 10;
	conn_answer(&conn, "th: 3\r\n\r\nabc");
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 1);

	open_and_ask(*state);
	conn_answer(&conn, "HTTP/1.1 101 ");
	expect_opaque(*state);
}

static void an_answer_that_is_none(void **state)
{
	open_and_ask(*state);
	conn_answer(&conn, "\x16\x03\x03 something else");
	expect_opaque(*state);
}

static void a_body_after_100_continue(void **state)
{
	size_t from;

	conn_open(&conn, *state, &ordinary);
	from = stream_write_marked(&conn.stream, "POST / HTTP/1.1\r\nExpect: 100-continue\r\n"
						 "Content-Length: 5\r\n^\r\n");
	conn_transmit(&conn, from, conn.stream.len);
	conn_answer(&conn, CONTINUE);
	conn_send(&conn, "GET /");
	conn_answer(&conn, OK);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
}

/* It was refused, and the body never comes: the next bytes are body, as the head said. */
static void a_body_that_never_comes(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 27\r\n^\r\n");
	conn_answer(&conn, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n");
	conn_send(&conn, PLAIN);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
}

int test_answer(void)
{
	const struct CMUnitTest answer[] = {
	    cmocka_unit_test(an_upgrade_that_is_granted),
	    cmocka_unit_test(an_upgrade_that_is_refused),
	    cmocka_unit_test(an_upgrade_after_interim_answers),
	    cmocka_unit_test(an_answer_in_two_packets),
	    cmocka_unit_test(a_request_before_the_answer),
	    cmocka_unit_test(an_upgrade_behind_an_unanswered_request),
	    cmocka_unit_test(an_upgrade_later_on_the_connection),
	    cmocka_unit_test(an_upgrade_later_in_two_packets),
	    cmocka_unit_test(an_upgrade_behind_a_request_that_is_sent_again),
	    cmocka_unit_test(an_upgrade_behind_an_older_answer),
	    cmocka_unit_test(the_answer_comes_again),
	    cmocka_unit_test(an_upgrade_that_is_refused_before_its_body),
	    cmocka_unit_test(an_upgrade_behind_one_that_was_refused_before_its_body),
	    cmocka_unit_test(an_answer_with_a_hole),
	    cmocka_unit_test(a_final_answer_before_its_interim_one),
	    cmocka_unit_test(an_early_answer_in_no_place),
	    cmocka_unit_test(an_answer_whose_rest_is_out_of_order),
	    cmocka_unit_test(an_answer_that_is_none),
	    cmocka_unit_test(a_body_after_100_continue),
	    cmocka_unit_test(a_body_that_never_comes),
	};

	return cmocka_run_group_tests(answer, rig_setup, rig_teardown);
}
