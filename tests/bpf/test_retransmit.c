// SPDX-License-Identifier: Apache-2.0
/* The same bytes at the same wire numbers, however often and however cut they are sent. */
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
#define GET_LEN 27
#define POST    "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n^\r\n12345"
#define ANSWER  "HTTP/1.1 204 No Content\r\n\r\n"

static struct conn conn;

static void open_and_send(struct rig *rig, const char *marked)
{
	conn_open(&conn, rig, &ordinary);
	conn_send(&conn, marked);
	rig_forget_counts(rig);
}

static void identical(void **state)
{
	open_and_send(*state, GET);
	for (int i = 0; i < 5; i++) {
		conn_transmit(&conn, 0, GET_LEN);
		expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1});
	}
	assert_int_equal(conn_flow(&conn).requests, 1);
}

static void identical_in_every_kind_of_packet(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;

		o.shape = shapes[i];
		conn_open(&conn, *state, &o);
		conn_send(&conn, POST);
		conn_transmit(&conn, 0, conn.stream.len);
		expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 2}, {REASON_RESENT, 1});
	}
}

static void in_two_pieces(void **state)
{
	for (size_t cut = 1; cut < 50; cut++) {
		open_and_send(*state, POST);
		conn_transmit(&conn, 0, cut);
		conn_transmit(&conn, cut, conn.stream.len);
		expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1},
			      {REASON_SEQ, cut > 46});
	}
}

static void byte_by_byte_and_backwards(void **state)
{
	open_and_send(*state, POST GET POST);
	for (size_t i = 0; i < conn.stream.len; i++)
		conn_transmit(&conn, i, i + 1);
	for (size_t i = conn.stream.len; i > 0; i--)
		conn_transmit(&conn, i - 1, i);
	assert_int_equal(rig_count(*state, REASON_RESENT), 6);
}

/* TCP puts small segments together when it sends them again. */
static void merged_with_what_follows(void **state)
{
	open_and_send(*state, POST);
	conn_send(&conn, GET);
	conn_send(&conn, POST);
	rig_forget_counts(*state);
	conn_transmit(&conn, 0, conn.stream.len);
	expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1});
	conn_transmit(&conn, 20, conn.stream.len - 3);
	expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1});
}

/* An old request and a new one in one packet. */
static void merged_with_what_is_new(void **state)
{
	size_t from;

	open_and_send(*state, POST);
	from = stream_write_marked(&conn.stream, GET);
	conn_transmit(&conn, 10, conn.stream.len);
	expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1}, {REASON_RESENT, 1});
	conn_transmit(&conn, from, conn.stream.len);
	expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1});
}

/* The head was half sent, comes again and now is whole. */
static void a_longer_retransmission_ends_the_head(void **state)
{
	for (size_t cut = 1; cut < GET_LEN; cut++) {
		conn_open(&conn, *state, &ordinary);
		stream_write_marked(&conn.stream, GET);
		conn_transmit(&conn, 0, cut);
		conn_transmit(&conn, cut / 2, GET_LEN);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
		conn_transmit(&conn, 0, GET_LEN);
		assert_int_equal(conn_flow(&conn).injected, 1);
	}
}

static void after_a_partial_acknowledgement(void **state)
{
	for (size_t ack = 0; ack <= GET_LEN + LINE_LEN; ack++) {
		open_and_send(*state, GET);
		conn_ack(&conn, ack);
		for (size_t from = stream_to_app(&conn.stream, ack); from < GET_LEN; from++)
			conn_transmit(&conn, from, GET_LEN);
	}
}

static void after_older_requests_were_acknowledged(void **state)
{
	size_t last;

	conn_open(&conn, *state, &ordinary);
	for (int i = 0; i < 20; i++) {
		conn_send(&conn, POST);
		conn_answer(&conn, ANSWER);
	}
	last = conn_send(&conn, GET);
	rig_forget_counts(*state);
	conn_transmit(&conn, last, conn.stream.len);
	expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1});
	conn_transmit(&conn, last + 5, conn.stream.len - 1);
	expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1});
}

/* What the peer has already acknowledged may be on its way once more; it is renumbered below that.
 */
static void of_bytes_that_were_acknowledged(void **state)
{
	struct segment s, want;

	open_and_send(*state, POST);
	conn_ack_all(&conn);
	rig_forget_counts(*state);
	s = conn_segment(&conn, 0, conn.stream.len);
	want = s;
	want.seq += LINE_LEN;
	conn_expect(&conn, &s, &want);
	expect_counts(*state, {REASON_SEQ, 1});
	conn_send(&conn, GET);
	expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
}

/* A keep-alive probe has no byte, or one old byte, before what is acknowledged. */
static void keep_alive_probes(void **state)
{
	struct segment s, want;

	open_and_send(*state, GET);
	conn_ack_all(&conn);
	for (int len = 0; len < 2; len++) {
		s = conn_segment(&conn, GET_LEN - 1, GET_LEN - 1 + len);
		s.flags = ACK;
		want = s;
		want.seq += LINE_LEN;
		conn_expect(&conn, &s, &want);
	}
}

/*
 * The window is shut within an edit, and opened again: what asks for it comes as one byte before
 * the first one that is not acknowledged, with a byte or without, and then what was sent.
 */
static void probes_of_a_window_that_is_shut_within_an_edit(void **state)
{
	for (size_t known = 1; known <= GET_LEN + LINE_LEN; known++) {
		size_t at;

		open_and_send(*state, GET);
		conn_receive(&conn, &(struct incoming){.ack = known, .zero_window = true});
		at = stream_to_app(&conn.stream, known);
		for (size_t len = 0; len < 2; len++) {
			struct segment s = conn_segment(&conn, at - 1, at - 1 + len), want = s;

			/* Of what is acknowledged no byte is a wide one any more. */
			want.seq += conn_base(&conn);
			conn_expect(&conn, &s, &want);
		}
		conn_receive(&conn, &(struct incoming){.ack = known, .window = 1});
		conn_receive(&conn, &(struct incoming){.ack = known});
		conn_transmit(&conn, at, GET_LEN);
		conn_answer(&conn, ANSWER);
		conn_send(&conn, GET);
		conn_answer(&conn, ANSWER);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
	}
}

/*
 * One byte of the next request asks for a window that is shut. If it is the one that completes the
 * head, there is no room for a header; else the rest of the head gets one when the window opens.
 */
static void a_probe_with_the_next_byte_of_a_head(void **state)
{
	for (size_t sent = 0; sent <= GET_LEN - 2; sent++) {
		bool completes = sent == GET_LEN - 2;
		size_t from, acked;

		open_and_send(*state, GET);
		conn_answer(&conn, ANSWER);
		from = stream_write(&conn.stream, PLAIN, sent + 1);
		conn_transmit(&conn, from, from + sent);
		acked = stream_to_wire(&conn.stream, from + sent);
		conn_receive(&conn, &(struct incoming){.ack = acked, .zero_window = true});
		for (int i = 0; i < 2; i++)
			conn_transmit(&conn, from + sent, from + sent + 1);
		conn_ack(&conn, acked);
		stream_write_marked(&conn.stream, (completes ? PLAIN : GET) + sent + 1);
		conn_transmit(&conn, from + sent, from + GET_LEN);
		conn_answer(&conn, ANSWER);
		assert_int_equal(rig_count(*state, REASON_WINDOW), completes);
		assert_int_equal(rig_count(*state, REASON_INJECTED), !completes);
	}
}

/* Each transmission has a time of its own, and it passes as it is. */
static void at_other_times(void **state)
{
	static const uint32_t times[] = {0xffffff00, 0xffffffff, 0, 1, 0x80000000, 0x7fffffff};
	uint8_t options[40];

	open_and_send(*state, GET);
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct segment s = conn_segment(&conn, 0, GET_LEN);

		memcpy(options, s.options, s.options_len);
		put32(options + 4, times[i]);
		put32(options + 8, ~times[i]);
		s.options = options;
		conn_transmit_as(&conn, &s);
	}
	conn_answer(&conn, ANSWER);
}

static void pure_acknowledgements_and_fin(void **state)
{
	struct segment s;

	open_and_send(*state, GET);
	conn_transmit(&conn, GET_LEN, GET_LEN);
	expect_counts(*state, {REASON_SEQ, 1});
	/* Before the edit, at its byte, and behind it. */
	for (size_t at = 0; at <= GET_LEN; at++)
		conn_transmit(&conn, at, at);
	s = conn_segment(&conn, GET_LEN, GET_LEN);
	s.flags |= FIN;
	conn_transmit_as(&conn, &s);
}

/* A hole in a body does no harm: its length is known. */
static void a_hole_in_a_body_is_passed_over(void **state)
{
	conn_open(&conn, *state, &ordinary);
	stream_write_marked(&conn.stream,
			    "POST / HTTP/1.1\r\nContent-Length: 20\r\n^\r\n0123456789");
	conn_transmit(&conn, 0, conn.stream.len);
	stream_write_marked(&conn.stream, "0123456789");
	conn_send(&conn, GET);
	conn_transmit(&conn, 49, 59);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
	assert_int_equal(rig_count(*state, REASON_HOLE), 0);
	conn_send(&conn, GET);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 3);
}

/* A hole in a head: that request is given up, and two answered ones later the flow is back. */
static void a_hole_in_a_head_costs_two_requests(void **state)
{
	static const char plain[] = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

	open_and_send(*state, GET);
	conn_answer(&conn, ANSWER);
	stream_write_marked(&conn.stream, plain);
	conn_transmit(&conn, GET_LEN, GET_LEN + 10);
	rig_forget_counts(*state);
	conn_transmit(&conn, GET_LEN + 15, conn.stream.len);
	expect_counts(*state, {REASON_HOLE, 1}, {REASON_LOST, 1}, {REASON_SEQ, 1});
	conn_transmit(&conn, GET_LEN, conn.stream.len);
	expect_counts(*state, {REASON_SEQ, 1}, {REASON_JOINING, 1});
	conn_answer(&conn, ANSWER);
	rig_forget_counts(*state);
	conn_send(&conn, GET);
	expect_counts(*state, {REASON_JOINED, 1}, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
}

/* What comes before bytes that were already sent on is never changed any more. */
static void the_first_half_of_a_head_after_the_second(void **state)
{
	conn_open(&conn, *state, &ordinary);
	stream_write_marked(&conn.stream, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	conn_transmit(&conn, 20, GET_LEN);
	conn_transmit(&conn, 0, 20);
	conn_transmit(&conn, 0, GET_LEN);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
	assert_int_equal(rig_count(*state, REASON_HOLE), 1);
	assert_int_equal(rig_count(*state, REASON_LOST), 1);
}

int test_retransmit(void)
{
	const struct CMUnitTest retransmit[] = {
	    cmocka_unit_test(identical),
	    cmocka_unit_test(identical_in_every_kind_of_packet),
	    cmocka_unit_test(in_two_pieces),
	    cmocka_unit_test(byte_by_byte_and_backwards),
	    cmocka_unit_test(merged_with_what_follows),
	    cmocka_unit_test(merged_with_what_is_new),
	    cmocka_unit_test(a_longer_retransmission_ends_the_head),
	    cmocka_unit_test(after_a_partial_acknowledgement),
	    cmocka_unit_test(after_older_requests_were_acknowledged),
	    cmocka_unit_test(of_bytes_that_were_acknowledged),
	    cmocka_unit_test(keep_alive_probes),
	    cmocka_unit_test(probes_of_a_window_that_is_shut_within_an_edit),
	    cmocka_unit_test(a_probe_with_the_next_byte_of_a_head),
	    cmocka_unit_test(at_other_times),
	    cmocka_unit_test(pure_acknowledgements_and_fin),
	    cmocka_unit_test(a_hole_in_a_body_is_passed_over),
	    cmocka_unit_test(a_hole_in_a_head_costs_two_requests),
	    cmocka_unit_test(the_first_half_of_a_head_after_the_second),
	};

	return cmocka_run_group_tests(retransmit, rig_setup, rig_teardown);
}
