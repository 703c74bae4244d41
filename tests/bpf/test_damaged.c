// SPDX-License-Identifier: Apache-2.0
/*
 * Routed packets whose checksum is wrong: the receiver will drop them, so nothing may be learned
 * from them, and they must stay wrong.
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

int test_damaged(void)
{
	const struct CMUnitTest damaged[] = {
	    cmocka_unit_test(a_request_gets_its_header_when_it_comes_intact),
	    cmocka_unit_test(its_number_is_translated),
	    cmocka_unit_test(one_that_would_carry_an_edit_is_dropped),
	    cmocka_unit_test(none_is_a_reason_to_join),
	};

	return cmocka_run_group_tests(damaged, link_setup_forwarded, link_teardown);
}
