// SPDX-License-Identifier: Apache-2.0
/* Acknowledgements of a flow without edits in flight: translated without a look at it, rightly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "ending.h"
#include "topics.h"

#define POST     "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n^\r\n"
#define HEAD_LEN (sizeof(POST) - 2)
#define PIECE    1000
#define BODY     40000
/* In units of the peer's scale. */
#define WINDOW 1000
/* The flow is told after this part of the window. */
#define SPAN ((WINDOW << 7) / 8)

static struct conn conn;

/* Our side sends the next bytes of a body. */
static void send_body(size_t bytes)
{
	for (size_t sent = 0; sent < bytes; sent += PIECE) {
		size_t from = conn.stream.len;

		for (size_t i = 0; i < PIECE; i++)
			stream_write(&conn.stream, "x", 1);
		conn_transmit(&conn, from, conn.stream.len);
	}
}

/* The peer has received so many bytes of the stream, and says so. */
static void acked(size_t wire)
{
	conn_receive(&conn, &(struct incoming){.ack = wire, .window = WINDOW, .timestamps = true});
}

/* Is the flow told of the acknowledgement of so many bytes? */
static bool is_told(size_t wire)
{
	acked(wire);
	return conn_flow(&conn).peer_ack == conn.stream.first + wire - LINE_LEN;
}

/* It is not told of an acknowledgement of more, or if so because the machine was busy elsewhere. */
static void expect_untold(size_t wire)
{
	for (int i = 0; i < 10; i++) {
		if (!is_told(wire + i))
			return;
	}
	fail_msg("the flow was told each time");
}

/* A request whose body is on its way; what is acknowledged of it changes by one number. */
static void settle(struct rig *rig, const struct opening *opening)
{
	conn_open(&conn, rig, opening);
	conn_send(&conn, POST);
	send_body(4 * PIECE);
	assert_true(is_told(HEAD_LEN + LINE_LEN));
	assert_true(is_told(HEAD_LEN + LINE_LEN + 1));
	expect_untold(HEAD_LEN + LINE_LEN + PIECE);
	assert_int_equal(conn_flow(&conn).settled, 1);
}

static void in_every_kind_of_packet(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;

		o.shape = shapes[i];
		settle(*state, &o);
		for (size_t n = 0; n <= 3 * PIECE; n += 7)
			acked(HEAD_LEN + LINE_LEN + n);
	}
}

static void across_the_end_of_the_number_space(void **state)
{
	struct opening o = ordinary;

	o.isn = 0u - (uint32_t)HEAD_LEN - 2 * PIECE;
	settle(*state, &o);
	for (size_t n = PIECE; n <= 4 * PIECE; n++)
		acked(HEAD_LEN + LINE_LEN + n);
}

static void the_flow_is_told_now_and_then(void **state)
{
	size_t told = HEAD_LEN + LINE_LEN + PIECE + 20;

	settle(*state, &ordinary);
	send_body(2 * SPAN);
	assert_true(is_told(told + SPAN));
	expect_untold(told + SPAN + 1);
	/* One that is older says nothing. */
	told = conn_flow(&conn).peer_ack;
	acked(HEAD_LEN + LINE_LEN + 5);
	assert_int_equal(conn_flow(&conn).peer_ack, told);
}

static void the_flow_is_told_when_the_window_changes(void **state)
{
	static const uint16_t windows[] = {WINDOW - WINDOW / 8 - 1, WINDOW + WINDOW / 8 + 1, 1};
	struct incoming in = {.ack = HEAD_LEN + LINE_LEN + PIECE, .timestamps = true};

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		settle(*state, &ordinary);
		in.window = windows[i];
		conn_receive(&conn, &in);
		assert_int_equal(conn_flow(&conn).window, windows[i] << 7);
	}
	settle(*state, &ordinary);
	in.zero_window = true;
	conn_receive(&conn, &in);
	assert_int_equal(conn_flow(&conn).window, 0);
}

static void the_flow_is_told_after_a_moment(void **state)
{
	const struct timespec moment = {.tv_sec = 1, .tv_nsec = 100 * 1000 * 1000};

	settle(*state, &ordinary);
	nanosleep(&moment, NULL);
	assert_true(is_told(HEAD_LEN + LINE_LEN + PIECE + 1));
}

/* The next request: its own edit is on the way from here on. */
static void an_edit_ends_it(void **state)
{
	size_t next;

	settle(*state, &ordinary);
	send_body(BODY - 4 * PIECE);
	acked(HEAD_LEN + LINE_LEN + 2 * PIECE);
	conn_send(&conn, GET);
	assert_int_equal(conn_flow(&conn).settled, 0);
	next = HEAD_LEN + LINE_LEN + BODY;
	for (size_t n = 0; n <= GET_LEN + LINE_LEN; n++)
		acked(next + n);
	assert_int_equal(conn_in_flight(&conn), 0);
	assert_int_equal(conn_base(&conn), 2 * LINE_LEN);
}

/* Not upon the answer to each request: what is remembered would be for nothing. */
static void a_flow_of_small_requests_does_not_settle(void **state)
{
	conn_open(&conn, *state, &ordinary);
	for (int i = 0; i < 3; i++) {
		conn_send(&conn, GET);
		conn_ack_all(&conn);
		conn_answer(&conn, ANSWER);
	}
	assert_int_equal(conn_flow(&conn).settled, 0);
}

static void blocks_and_data_are_translated_as_ever(void **state)
{
	size_t end = HEAD_LEN + LINE_LEN + 4 * PIECE;

	settle(*state, &ordinary);
	conn_receive(&conn, &(struct incoming){.ack = end - 3 * PIECE,
					       .window = WINDOW,
					       .timestamps = true,
					       .sacks = 1,
					       .sack = {{end - PIECE, end}}});
	conn_answer(&conn, "HTTP/1.1 100 Continue\r\n\r\n");
	assert_int_equal(conn_flow(&conn).peer_ack, conn.stream.first + HEAD_LEN + 4 * PIECE);
}

/* The last acknowledgement is what frees the flow. */
static void the_end_is_seen(void **state)
{
	struct segment s;

	settle(*state, &ordinary);
	conn_receive_fin(&conn, false);
	acked(stream_to_wire(&conn.stream, conn.stream.len));
	conn_send_fin(&conn);
	assert_int_equal(conn_flow(&conn).settled, 0);
	s = conn_our_ack(&conn, true);
	conn_expect_shift(&conn, &s, LINE_LEN);
	assert_true(conn_is_known(&conn));
	acked(stream_to_wire(&conn.stream, conn.stream.len) + 1);
	conn_expect_gone(&conn, LINE_LEN);
}

/* Where framing is lost, a place to join is found by exact numbers. */
static void a_flow_that_is_lost_is_told(void **state)
{
	size_t end;

	settle(*state, &ordinary);
	for (size_t i = 0; i < BODY; i++)
		stream_write(&conn.stream, "x", 1);
	send_body(PIECE);
	end = conn.stream.len;
	assert_true(conn_flow(&conn).flags & FLOW_LEARN);
	assert_int_equal(conn_flow(&conn).settled, 0);
	assert_true(is_told(end + LINE_LEN));
	assert_true(is_told(end + LINE_LEN));
}

/* Another connection has the port now, and never an edit. */
static void nothing_is_left_of_it(void **state)
{
	struct opening other = ordinary;

	other.isn += 0x1000000;
	settle(*state, &ordinary);
	conn.rig->port--;
	conn_open(&conn, *state, &other);
	for (size_t n = 0; n <= 4 * PIECE; n += 100)
		acked(n);
}

/* Nor where the beginning of that other connection was not seen. */
static void nothing_is_left_of_it_after_a_reset(void **state)
{
	struct opening other = ordinary;
	struct segment s;

	settle(*state, &ordinary);
	s = conn_our_ack(&conn, false);
	s.flags = RST | ACK;
	conn_expect_shift(&conn, &s, LINE_LEN);
	conn_expect_reset(&conn);
	conn.rig->port--;
	other.isn += 0x10000000;
	conn_meet(&conn, *state, &other);
	for (size_t n = 0; n <= 4 * PIECE; n += 100)
		acked(n);
}

/* Nor where there is no room for the flow of that other connection. */
static void nothing_is_left_of_it_where_the_table_is_full(void **state)
{
	struct rig *small = rig_open(1);

	(void)state;
	settle(small, &ordinary);
	rig_remove_flow(small, &conn.shape, conn.port);
	conn_open(&conn, small, &ordinary);
	conn_send(&conn, GET);
	small->port -= 2;
	conn_open(&conn, small, &ordinary);
	conn.wscale_known = false;
	for (size_t n = 0; n <= 4 * PIECE; n += 100)
		acked(n);
	rig_close(small);
}

int test_settled(void)
{
	const struct CMUnitTest settled[] = {
	    cmocka_unit_test(in_every_kind_of_packet),
	    cmocka_unit_test(across_the_end_of_the_number_space),
	    cmocka_unit_test(the_flow_is_told_now_and_then),
	    cmocka_unit_test(the_flow_is_told_when_the_window_changes),
	    cmocka_unit_test(the_flow_is_told_after_a_moment),
	    cmocka_unit_test(an_edit_ends_it),
	    cmocka_unit_test(a_flow_of_small_requests_does_not_settle),
	    cmocka_unit_test(blocks_and_data_are_translated_as_ever),
	    cmocka_unit_test(the_end_is_seen),
	    cmocka_unit_test(a_flow_that_is_lost_is_told),
	    cmocka_unit_test(nothing_is_left_of_it),
	    cmocka_unit_test(nothing_is_left_of_it_after_a_reset),
	    cmocka_unit_test(nothing_is_left_of_it_where_the_table_is_full),
	};

	return cmocka_run_group_tests(settled, rig_setup, rig_teardown);
}
