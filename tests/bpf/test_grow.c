// SPDX-License-Identifier: Apache-2.0
/* Requests that fit into their packet together with the header: it grows in place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "topics.h"

#define GET      "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define GET_LEN  27
#define POST_ODD "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n^\r\n12345"
#define CHUNKED                                                                                    \
	"PUT /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n^\r\n"                        \
	"4\r\nabcd\r\nA;x=y\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"

static struct conn conn;

static void expect_grown(struct rig *rig, uint64_t requests, uint64_t packets)
{
	expect_counts(rig, {REASON_INJECTED, requests}, {REASON_GROWN, packets});
}

static void a_request_gets_its_header_before_the_blank_line(void **state)
{
	static const char *const requests[] = {
	    GET,
	    POST_ODD,
	    CHUNKED,
	    "GET / HTTP/1.0\r\n^\r\n",
	    "GET / HTTP/1.1\nHost: a\n^\n",
	    "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n^\r\n",
	    "M-SEARCH * HTTP/1.1\r\nHost: a\r\nX: \t y \r\n^\r\n",
	    "OPTIONS http://a/b?c HTTP/1.1\r\nHost: a\r\nTraceparentx: 1\r\ntrace: 2\r\n^\r\n",
	};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, requests[i]);
		expect_grown(*state, 1, 1);
	}
}

static void in_every_kind_of_packet(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;

		o.shape = shapes[i];
		print_message("\t%s\n", o.shape.name);
		conn_open(&conn, *state, &o);
		conn_send(&conn, POST_ODD);
		conn_send(&conn, GET);
		expect_counts(*state, {REASON_INJECTED, 2}, {REASON_GROWN, 2});
		conn_ack_all(&conn);
		conn_send(&conn, GET);
	}
}

/* The checksum of what is moved depends on whether it moves from an even place or an odd one. */
static void at_even_and_odd_places(void **state)
{
	for (int target = 1; target <= 16; target++) {
		for (int body = 1; body <= 9; body++) {
			char text[128];

			sprintf(text, "POST /%.*s HTTP/1.1\r\nContent-Length: %d\r\n^\r\n%.*s",
				target, "abcdefghijklmnop", body, body,
				"\xff\x01\xfe\x02\xfd\x03\xfc\x04\xfb");
			conn_open(&conn, *state, &ordinary);
			conn_send(&conn, text);
			expect_grown(*state, 1, 1);
		}
	}
}

static void across_the_end_of_the_number_space(void **state)
{
	for (uint32_t before = 0; before < 120; before++) {
		struct opening o = ordinary;

		o.isn = 0u - before;
		o.peer_isn = 0u - 1;
		conn_open(&conn, *state, &o);
		conn_send(&conn, GET);
		conn_send(&conn, POST_ODD);
		expect_grown(*state, 2, 2);
		conn_transmit(&conn, 0, conn.stream.len);
		expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1});
		conn_ack_all(&conn);
		conn_send(&conn, GET);
	}
}

static void several_requests_in_one_packet(void **state)
{
	for (int n = 2; n <= 5; n++) {
		conn_open(&conn, *state, &ordinary);
		for (int i = 0; i < n; i++)
			stream_write_marked(&conn.stream, i % 2 ? POST_ODD : GET);
		conn_transmit(&conn, 0, conn.stream.len);
		expect_grown(*state, n, 1);
	}
}

static void request_after_request(void **state)
{
	conn_open(&conn, *state, &ordinary);
	for (int i = 0; i < 40; i++) {
		conn_send(&conn, i % 3 == 0 ? GET : i % 3 == 1 ? POST_ODD : CHUNKED);
		expect_grown(*state, 1, 1);
		conn_answer(&conn, "HTTP/1.1 204 No Content\r\n\r\n");
		rig_forget_counts(*state);
	}
	assert_int_equal(conn_flow(&conn).injected, 40);
	assert_int_equal(conn_flow(&conn).requests, 40);
}

static void transmit_cut(struct conn *c, size_t first_cut, size_t second_cut)
{
	if (first_cut)
		conn_transmit(c, 0, first_cut);
	if (second_cut > first_cut)
		conn_transmit(c, first_cut, second_cut);
	conn_transmit(c, second_cut, c->stream.len);
}

/* Whatever the cut, the header stands before the blank line, and there is one. */
static void a_head_in_two_packets(void **state)
{
	static const char *const requests[] = {GET, POST_ODD, CHUNKED, GET POST_ODD,
					       "GET / HTTP/1.1\nHost: a\n^\n"};

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		for (size_t cut = 1; cut < strlen(requests[i]) - 2; cut++) {
			conn_open(&conn, *state, &ordinary);
			stream_write_marked(&conn.stream, requests[i]);
			transmit_cut(&conn, 0, cut);
			assert_int_equal(rig_count(*state, REASON_INJECTED), conn.stream.edits);
			conn_ack_all(&conn);
			conn_send(&conn, GET);
		}
	}
}

static void a_head_in_three_packets(void **state)
{
	for (size_t first = 1; first < GET_LEN - 1; first++) {
		for (size_t second = first + 1; second < GET_LEN; second++) {
			conn_open(&conn, *state, &ordinary);
			stream_write_marked(&conn.stream, GET);
			transmit_cut(&conn, first, second);
			assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
			assert_int_equal(rig_count(*state, REASON_GROWN), 1);
		}
	}
}

static void a_head_byte_by_byte(void **state)
{
	conn_open(&conn, *state, &ordinary);
	stream_write_marked(&conn.stream, GET CHUNKED GET POST_ODD GET);
	for (size_t i = 0; i < conn.stream.len; i++)
		conn_transmit(&conn, i, i + 1);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 5);
	assert_int_equal(rig_count(*state, REASON_GROWN), 5);
}

/* Our FIN may come with the end of the request. */
static void a_request_with_fin(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	stream_write_marked(&conn.stream, POST_ODD);
	s = conn_segment(&conn, 0, conn.stream.len);
	s.flags |= FIN;
	conn_transmit_as(&conn, &s);
	expect_grown(*state, 1, 1);
	conn_transmit_as(&conn, &s);
	expect_counts(*state, {REASON_RESENT, 1}, {REASON_GROWN, 1});
}

/* Sixteen edits are what a flow can hold. */
static void the_seventeenth_request_in_flight_is_left_as_it_is(void **state)
{
	conn_open(&conn, *state, &ordinary);
	for (int i = 0; i < EDITS_MAX; i++)
		conn_send(&conn, GET);
	expect_grown(*state, EDITS_MAX, EDITS_MAX);
	conn_send(&conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	expect_counts(*state, {REASON_EDITS_FULL, 1}, {REASON_SEQ, 1});
	/* The peer takes the first request, and there is room for one more. */
	conn_ack(&conn, stream_to_wire(&conn.stream, GET_LEN));
	rig_forget_counts(*state);
	conn_send(&conn, GET);
	expect_grown(*state, 1, 1);
	conn_send(&conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	expect_counts(*state, {REASON_EDITS_FULL, 1}, {REASON_SEQ, 1});
}

static void seventeen_requests_in_one_packet(void **state)
{
	struct opening o = ordinary;

	o.mss = 8960;
	conn_open(&conn, *state, &o);
	for (int i = 0; i < EDITS_MAX; i++)
		stream_write_marked(&conn.stream, GET);
	stream_write_marked(&conn.stream, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
	conn_transmit(&conn, 0, conn.stream.len);
	expect_counts(*state, {REASON_INJECTED, EDITS_MAX}, {REASON_GROWN, 1},
		      {REASON_EDITS_FULL, 1});
}

/* A packet that meets the hooks of two stacked devices is changed once. */
static void a_packet_that_comes_by_twice(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn.meeting.times = 2;
	conn_send(&conn, GET);
	expect_grown(*state, 1, 1);
	conn_send(&conn, GET);
	expect_grown(*state, 1, 1);
	conn_ack(&conn, 10);
	expect_counts(*state, {REASON_ACK, 1});
	conn_ack_all(&conn);
	expect_counts(*state, {REASON_ACK, 1});
}

int test_grow(void)
{
	const struct CMUnitTest grow[] = {
	    cmocka_unit_test(a_request_gets_its_header_before_the_blank_line),
	    cmocka_unit_test(in_every_kind_of_packet),
	    cmocka_unit_test(at_even_and_odd_places),
	    cmocka_unit_test(across_the_end_of_the_number_space),
	    cmocka_unit_test(several_requests_in_one_packet),
	    cmocka_unit_test(request_after_request),
	    cmocka_unit_test(a_head_in_two_packets),
	    cmocka_unit_test(a_head_in_three_packets),
	    cmocka_unit_test(a_head_byte_by_byte),
	    cmocka_unit_test(a_request_with_fin),
	    cmocka_unit_test(the_seventeenth_request_in_flight_is_left_as_it_is),
	    cmocka_unit_test(seventeen_requests_in_one_packet),
	    cmocka_unit_test(a_packet_that_comes_by_twice),
	};

	return cmocka_run_group_tests(grow, rig_setup, rig_teardown);
}
