// SPDX-License-Identifier: Apache-2.0
/*
 * Packets whose checksum is wrong: the receiver will drop them, so nothing may be learned from
 * them, and they must stay wrong. Ours are routed ones; the node's own are never damaged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "link.h"
#include "topics.h"

#define GET     "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_LEN 27

static struct conn conn;

static void open_conn(void **state)
{
	const struct link *link = *state;

	link_open(&conn, link, &ordinary);
	conn_go_by_wire(&conn, link->wire, false, 0);
}

/* Send a segment with a bit of its payload turned over. */
static void send_damaged(const struct segment *s)
{
	static struct frame frame;

	packet_build(s, &frame);
	frame.data[frame.len - 1] ^= 0x20;
	wire_send(conn.wire, &frame, &(struct offload){});
}

/* It arrives as damaged as it left, with another number. */
static void expect_damaged(const struct segment *s, size_t wire)
{
	static struct frame got, want;
	struct segment renumbered = *s;

	renumbered.seq = conn.stream.first + wire;
	packet_build(&renumbered, &want);
	want.data[want.len - 1] ^= 0x20;
	wire_receive(conn.wire, &got, NULL);
	expect_frame(&got, &want);
}

static void a_request_gets_its_header_when_it_comes_intact(void **state)
{
	struct segment s;

	open_conn(state);
	stream_write_marked(&conn.stream, GET);
	s = conn_segment(&conn, 0, GET_LEN);
	send_damaged(&s);
	expect_damaged(&s, 0);
	expect_counts(conn.rig, {REASON_BAD_CHECKSUM, 1});
	conn_transmit(&conn, 0, GET_LEN);
	expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
	assert_int_equal(conn_flow(&conn).requests, 1);
}

static void its_number_is_translated(void **state)
{
	struct segment s;
	size_t from;

	open_conn(state);
	conn_send(&conn, GET);
	from = stream_write_marked(&conn.stream, GET);
	s = conn_segment(&conn, from, conn.stream.len);
	send_damaged(&s);
	expect_damaged(&s, stream_to_wire(&conn.stream, from));
	conn_transmit(&conn, from, conn.stream.len);
	assert_int_equal(rig_count(conn.rig, REASON_INJECTED), 2);
}

static void one_that_would_carry_an_edit_is_dropped(void **state)
{
	struct segment s;

	open_conn(state);
	conn_send(&conn, GET);
	rig_forget_counts(conn.rig);
	s = conn_segment(&conn, 0, GET_LEN);
	send_damaged(&s);
	expect_counts(conn.rig, {REASON_BAD_CHECKSUM, 1});
	wire_expect_silence(conn.wire);
	conn_transmit(&conn, 0, GET_LEN);
}

/* A damaged first request of a connection met in the middle proves nothing. */
static void none_is_a_reason_to_join(void **state)
{
	const struct link *link = *state;
	struct segment s;

	if (!link->wire)
		skip();
	conn_meet(&conn, link->rig, &ordinary);
	conn_go_by_wire(&conn, link->wire, false, 0);
	stream_write_marked(&conn.stream, PLAIN);
	s = conn_segment(&conn, 0, GET_LEN);
	send_damaged(&s);
	expect_damaged(&s, 0);
	assert_false(conn_is_known(&conn));
}

/* A segment of the peer with a bit turned over passes as it is. */
static void receive_damaged(const struct segment *s)
{
	static struct frame frame, before;

	packet_build(s, &frame);
	frame.data[packet_tcp_offset(s) + 15] ^= 1;
	before = frame;
	assert_int_equal(rig_run(conn.rig, HOOK_IN, &s->shape, &conn.meeting, &frame),
			 VERDICT_NEXT);
	expect_frame(&frame, &before);
	assert_int_equal(rig_count(conn.rig, REASON_BAD_CHECKSUM), 1);
	rig_forget_counts(conn.rig);
}

static void an_acknowledgement_retires_nothing(void **state)
{
	const struct link *link = *state;

	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;
		uint8_t options[40];
		struct segment s;

		o.shape = shapes[i];
		conn_open(&conn, link->rig, &o);
		conn_send(&conn, GET);
		rig_forget_counts(conn.rig);
		s = conn_incoming(&conn, &(struct incoming){.ack = GET_LEN + LINE_LEN}, options);
		receive_damaged(&s);
		assert_int_equal(conn_in_flight(&conn), 1);
		s.flags |= RST;
		receive_damaged(&s);
		assert_true(conn_is_known(&conn));
		conn_transmit(&conn, 0, GET_LEN);
		conn_ack_all(&conn);
		assert_int_equal(conn_in_flight(&conn), 0);
	}
}

static void an_answer_is_not_read(void **state)
{
	const struct link *link = *state;
	static const char switching[] = "HTTP/1.1 101 Switching Protocols\r\n\r\n";
	uint8_t options[40];
	struct segment s;

	conn_open(&conn, link->rig, &ordinary);
	conn_send(&conn, "GET / HTTP/1.1\r\nUpgrade: x\r\n^\r\n");
	rig_forget_counts(conn.rig);
	s = conn_incoming(&conn, &(struct incoming){.ack = 5, .data = switching}, options);
	receive_damaged(&s);
	conn_answer(&conn, "HTTP/1.1 204 No Content\r\n\r\n");
	conn_send(&conn, GET);
	assert_int_equal(rig_count(conn.rig, REASON_INJECTED), 1);
}

static void a_syn_ack_opens_nothing(void **state)
{
	const struct link *link = *state;
	uint8_t options[40];
	struct segment s;

	conn_meet(&conn, link->rig, &ordinary);
	s = conn_syn_ack(&conn, &ordinary, options);
	receive_damaged(&s);
	assert_false(conn_is_known(&conn));
}

int test_damaged(void)
{
	const struct CMUnitTest damaged[] = {
	    cmocka_unit_test(a_request_gets_its_header_when_it_comes_intact),
	    cmocka_unit_test(its_number_is_translated),
	    cmocka_unit_test(one_that_would_carry_an_edit_is_dropped),
	    cmocka_unit_test(none_is_a_reason_to_join),
	    cmocka_unit_test(an_acknowledgement_retires_nothing),
	    cmocka_unit_test(an_answer_is_not_read),
	    cmocka_unit_test(a_syn_ack_opens_nothing),
	};

	return cmocka_run_group_tests(damaged, link_setup_forwarded, link_teardown);
}
