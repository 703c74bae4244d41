// SPDX-License-Identifier: Apache-2.0
/* Connections that were there before the programs: joined only when there is no doubt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "topics.h"

#define GET    "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN  "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"

static struct conn conn;

static void meet(struct rig *rig)
{
	conn_meet(&conn, rig, &ordinary);
	conn_answer(&conn, "the end of something");
	conn_transmit(&conn, 0, 0);
}

static uint64_t joined(void **state)
{
	return rig_count(*state, REASON_JOINED);
}

static void with_the_second_request_that_is_answered(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;

		o.shape = shapes[i];
		conn_meet(&conn, *state, &o);
		conn_send(&conn, PLAIN);
		conn_answer(&conn, ANSWER);
		assert_int_equal(joined(state), 0);
		conn_send(&conn, GET);
		assert_int_equal(joined(state), 1);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
		conn_transmit(&conn, 27, conn.stream.len);
		conn_answer(&conn, ANSWER);
		conn_send(&conn, GET);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
	}
}

/* TCP has sent the first request again while the answer was on its way. */
static void with_the_second_request_though_the_first_came_twice(void **state)
{
	meet(*state);
	conn_send(&conn, PLAIN);
	conn_answer(&conn, ANSWER);
	conn_transmit(&conn, 0, conn.stream.len);
	conn_send(&conn, GET);
	expect_counts(*state, {REASON_JOINING, 1}, {REASON_JOINED, 1}, {REASON_INJECTED, 1},
		      {REASON_GROWN, 1});
}

static void the_first_request_is_counted_as_joining(void **state)
{
	meet(*state);
	conn_send(&conn, PLAIN);
	expect_counts(*state, {REASON_JOINING, 1});
}

/* Our own request sent back by an echo server is no answer, and no request of ours. */
static void an_echo_server_is_never_joined(void **state)
{
	meet(*state);
	for (int i = 0; i < 10; i++) {
		conn_send(&conn, PLAIN);
		conn_answer(&conn, PLAIN);
	}
	assert_int_equal(joined(state), 0);
}

/* It sends back what we sent before, so that it looks like an answer to the next one. */
static void a_late_echo_is_never_joined(void **state)
{
	static const char *const said[] = {PLAIN, ANSWER, PLAIN PLAIN, ANSWER, "x"};

	meet(*state);
	for (int i = 0; i < 20; i++) {
		conn_send(&conn, i % 2 ? "some text, not a request\r\n\r\n" : PLAIN);
		conn_answer(&conn, said[i % 2 ? 1 : 0]);
	}
	assert_int_equal(joined(state), 0);
}

static void not_without_a_status_line(void **state)
{
	static const char *const answers[] = {"220 smtp.example ESMTP\r\n", "HTTP/2.0 200\r\n\r\n",
					      "\x16\x03\x03 binary", "HTTP/1", "+OK\r\n"};

	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		meet(*state);
		conn_send(&conn, PLAIN);
		conn_answer(&conn, answers[i]);
		conn_send(&conn, PLAIN);
		assert_int_equal(joined(state), 0);
	}
}

/* Pipelining: whose answer it is cannot be told. */
static void not_before_the_answer(void **state)
{
	meet(*state);
	conn_send(&conn, PLAIN);
	conn_send(&conn, PLAIN);
	conn_send(&conn, PLAIN);
	assert_int_equal(joined(state), 0);
}

static void not_with_half_a_head(void **state)
{
	size_t from;

	meet(*state);
	conn_send(&conn, PLAIN);
	conn_answer(&conn, ANSWER);
	from = stream_write_marked(&conn.stream, PLAIN);
	conn_transmit(&conn, from, from + 20);
	conn_transmit(&conn, from + 20, conn.stream.len);
	assert_int_equal(joined(state), 0);
	conn_answer(&conn, ANSWER);
	/* Nothing tells that the halves had no body: it begins anew. */
	conn_send(&conn, PLAIN);
	conn_answer(&conn, ANSWER);
	conn_send(&conn, GET);
	assert_int_equal(joined(state), 1);
}

/* A body whose text is a request follows an answer, but it was an interim one. */
static void not_within_a_body_after_100_continue(void **state)
{
	meet(*state);
	conn_send(&conn, "POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 27\r\n\r\n");
	conn_answer(&conn, "HTTP/1.1 100 Continue\r\n\r\n");
	conn_send(&conn, PLAIN);
	assert_int_equal(joined(state), 0);
}

/* The answer came before the body was sent, as with 401 and 413. */
static void not_within_a_body_after_an_early_answer(void **state)
{
	meet(*state);
	conn_send(&conn, "POST / HTTP/1.1\r\nContent-Length: 54\r\n\r\n");
	conn_answer(&conn, "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n");
	conn_send(&conn, PLAIN);
	assert_int_equal(joined(state), 0);
	conn_send(&conn, PLAIN);
	assert_int_equal(joined(state), 0);
}

/* Its first part came with the head; the rest looks like a request. */
static void not_within_the_rest_of_a_body(void **state)
{
	meet(*state);
	conn_send(&conn, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1b\r\n");
	conn_answer(&conn, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
	conn_send(&conn, PLAIN);
	assert_int_equal(joined(state), 0);
}

/* What goes through a tunnel is not ours, even if it is HTTP. */
static void not_within_a_tunnel(void **state)
{
	meet(*state);
	conn_send(&conn, "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n");
	conn_answer(&conn, "HTTP/1.1 200 Connection established\r\n\r\n");
	conn_send(&conn, PLAIN);
	assert_int_equal(joined(state), 0);
}

/* A request with its whole body is one like any other. */
static void after_a_request_with_its_body(void **state)
{
	meet(*state);
	conn_send(&conn, "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde");
	conn_answer(&conn, ANSWER);
	conn_send(&conn, "POST / HTTP/1.1\r\nContent-Length: 27\r\n^\r\n");
	assert_int_equal(joined(state), 1);
	conn_answer(&conn, "HTTP/1.1 100 Continue\r\n\r\n");
	conn_send(&conn, PLAIN);
	conn_answer(&conn, ANSWER);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
}

static void not_with_bytes_in_flight(void **state)
{
	struct incoming in = {.data = ANSWER};

	meet(*state);
	conn_send(&conn, PLAIN);
	in.ack = conn.stream.len - 5;
	conn_receive(&conn, &in);
	conn_send(&conn, PLAIN);
	assert_int_equal(joined(state), 0);
}

static void not_what_would_be_left_alone(void **state)
{
	static const char *const heads[] = {
	    "POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n",
	    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	    "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
	    "g@t / HTTP/1.1\r\nHost: a\r\n\r\n",
	};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		meet(*state);
		for (int n = 0; n < 3; n++) {
			conn_send(&conn, heads[i]);
			conn_answer(&conn, ANSWER);
		}
		assert_int_equal(joined(state), 0);
	}
}

static void not_while_paused(void **state)
{
	meet(*state);
	rig_pause(*state, true);
	conn_send(&conn, PLAIN);
	expect_counts(*state, {REASON_PAUSED, 1});
	conn_answer(&conn, ANSWER);
	conn_send(&conn, PLAIN);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
	rig_pause(*state, false);
	conn_answer(&conn, ANSWER);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
}

/* Signed segments and those of Multipath TCP carry their option each time. */
static void not_with_options_that_forbid_it(void **state)
{
	static const uint8_t md5[20] = {19, 18, [18] = 1, 1};
	struct segment s;

	meet(*state);
	for (int i = 0; i < 3; i++) {
		size_t from = stream_write_marked(&conn.stream, PLAIN);

		s = conn_segment(&conn, from, conn.stream.len);
		s.options = md5;
		s.options_len = sizeof(md5);
		conn_pass(&conn, &s);
		conn_answer(&conn, ANSWER);
	}
	assert_int_equal(joined(state), 0);
	assert_false(conn_is_known(&conn));
}

/* A status line in the middle of something else is no answer. */
static void not_after_an_answer_at_another_place(void **state)
{
	meet(*state);
	conn_send(&conn, PLAIN);
	conn.peer_next += 10;
	conn_answer(&conn, ANSWER);
	conn_send(&conn, PLAIN);
	assert_int_equal(joined(state), 0);
}

/* The proof comes between two transmissions of a request: it was sent without a header. */
static void a_request_that_was_sent_before_stays_as_it_was(void **state)
{
	struct incoming answer = {.data = ANSWER};
	size_t from;

	meet(*state);
	conn_send(&conn, PLAIN);
	conn_answer(&conn, "no status line");
	from = conn_send(&conn, PLAIN);
	answer.ack = from;
	conn_receive(&conn, &answer);
	rig_forget_counts(*state);
	conn_transmit(&conn, from, conn.stream.len);
	expect_counts(*state, {REASON_JOINED, 1}, {REASON_NO_PLACE, 1});
	conn_answer(&conn, ANSWER);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
}

/* The same with a request that was lost: what comes behind it was sent, and nothing may move it. */
static void nothing_is_put_before_what_was_sent(void **state)
{
	struct incoming answer = {.data = ANSWER};
	size_t lost, behind;

	meet(*state);
	conn_send(&conn, PLAIN);
	lost = stream_write_marked(&conn.stream, PLAIN);
	behind = stream_write_marked(&conn.stream, PLAIN);
	conn_transmit(&conn, behind, conn.stream.len);
	answer.ack = lost;
	conn_receive(&conn, &answer);
	rig_forget_counts(*state);
	conn_transmit(&conn, lost, behind);
	expect_counts(*state, {REASON_JOINED, 1}, {REASON_NO_PLACE, 1});
	conn_transmit(&conn, behind, conn.stream.len);
	expect_counts(*state, {REASON_NO_PLACE, 1});
}

/* The scale of the window is not known then, so it cannot be checked, and stays as it is. */
static void a_joined_flow_leaves_the_window_alone(void **state)
{
	uint8_t options[40];
	struct segment s, want;

	meet(*state);
	conn_send(&conn, PLAIN);
	conn_answer(&conn, ANSWER);
	conn_send(&conn, GET);
	s = conn_incoming(&conn, &(struct incoming){.ack = 60, .window = 3}, options);
	want = s;
	want.ack = conn.stream.first + stream_to_app(&conn.stream, 60);
	conn_expect(&conn, &s, &want);
}

int test_join(void)
{
	const struct CMUnitTest join[] = {
	    cmocka_unit_test(with_the_second_request_that_is_answered),
	    cmocka_unit_test(with_the_second_request_though_the_first_came_twice),
	    cmocka_unit_test(the_first_request_is_counted_as_joining),
	    cmocka_unit_test(an_echo_server_is_never_joined),
	    cmocka_unit_test(a_late_echo_is_never_joined),
	    cmocka_unit_test(not_without_a_status_line),
	    cmocka_unit_test(not_before_the_answer),
	    cmocka_unit_test(not_with_half_a_head),
	    cmocka_unit_test(not_within_a_body_after_100_continue),
	    cmocka_unit_test(not_within_a_body_after_an_early_answer),
	    cmocka_unit_test(not_within_the_rest_of_a_body),
	    cmocka_unit_test(not_within_a_tunnel),
	    cmocka_unit_test(after_a_request_with_its_body),
	    cmocka_unit_test(not_with_bytes_in_flight),
	    cmocka_unit_test(not_what_would_be_left_alone),
	    cmocka_unit_test(not_while_paused),
	    cmocka_unit_test(not_with_options_that_forbid_it),
	    cmocka_unit_test(not_after_an_answer_at_another_place),
	    cmocka_unit_test(a_request_that_was_sent_before_stays_as_it_was),
	    cmocka_unit_test(nothing_is_put_before_what_was_sent),
	    cmocka_unit_test(a_joined_flow_leaves_the_window_alone),
	};

	return cmocka_run_group_tests(join, rig_setup, rig_teardown);
}
