// SPDX-License-Identifier: Apache-2.0
/* How a flow begins, and goes on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "ending.h"
#include "topics.h"

static struct conn conn;

/* Numbers that are not those of an ordinary opening. */
static const struct opening far = {.shape = {.options = 12},
				   .isn = 0x50000000,
				   .peer_isn = 0x60000000,
				   .mss = 1460,
				   .window = 65535,
				   .wscale = 7};

/* The port is used again: whatever is known of the old connection is wrong now. */
static void a_new_connection_on_the_same_port(void **state)
{
	uint32_t offset;
	struct opening o = ordinary;

	conn_open(&conn, *state, &o);
	conn_send(&conn, GET);
	for (int i = 0; i < 3; i++) {
		o.isn += 0x01000000;
		conn.rig->port--;
		conn_open(&conn, *state, &o);
		assert_int_equal(conn_flow(&conn).requests, 0);
		assert_false(rig_linger(conn.rig, &conn.shape, conn.port, &offset));
		conn_send(&conn, GET);
		assert_int_equal(conn_base(&conn), 0);
		if (i == 1) {
			struct segment s = conn_our_ack(&conn, false);

			s.flags = RST | ACK;
			conn_expect_shift(&conn, &s, LINE_LEN);
			conn_expect_reset(&conn);
		}
	}
}

/* What is remembered about an untouched flow ends with it. */
static void a_new_connection_after_one_that_is_left_alone(void **state)
{
	struct opening other = ordinary;
	struct segment reset;

	other.isn += 100000;
	for (int closed = 0; closed < 2; closed++) {
		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, TLS);
		for (int i = 0; i < 3; i++) {
			conn_send(&conn, PLAIN);
			conn_ack_all(&conn);
		}
		reset = conn_segment(&conn, conn.stream.len, conn.stream.len);
		reset.flags |= RST;
		if (closed)
			conn_pass(&conn, &reset);
		conn.rig->port--;
		conn_open(&conn, *state, &other);
		conn_send(&conn, GET);
		conn_ack_all(&conn);
		conn_answer(&conn, ANSWER);
	}
}

static void a_syn_that_comes_again_changes_nothing(void **state)
{
	struct segment syn;
	uint8_t options[40];

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	syn = conn_segment(&conn, 0, 0);
	syn.flags = SYN;
	syn.seq = ordinary.isn;
	syn.ack = 0;
	conn_pass(&conn, &syn);
	conn_transmit(&conn, 0, GET_LEN);
	syn = conn_syn_ack(&conn, &ordinary, options);
	conn_expect(&conn, &syn, &syn);
	conn_transmit(&conn, 0, GET_LEN);
	conn_ack_all(&conn);
}

/*
 * The same port with another number, before the peer has said anything: it answers both, and what
 * was tried first is refused.
 */
static void a_syn_that_comes_again_with_another_number(void **state)
{
	uint8_t options[40];
	struct opening first = ordinary;
	struct segment s;

	first.isn += 70000;
	conn_meet(&conn, *state, &ordinary);
	for (int i = 0; i < 2; i++) {
		s = conn_segment(&conn, 0, 0);
		s.seq = i ? ordinary.isn : first.isn;
		s.ack = 0;
		s.flags = SYN;
		conn_pass(&conn, &s);
	}
	s = conn_syn_ack(&conn, &first, options);
	conn_pass(&conn, &s);
	s = conn_segment(&conn, 0, 0);
	s.seq = first.isn + 1;
	s.flags = RST;
	conn_pass(&conn, &s);
	s = conn_syn_ack(&conn, &ordinary, options);
	conn_pass(&conn, &s);
	conn.wscale_known = true;
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
}

/* More bytes than there are numbers, in a body of which only a few are shown to the programs. */
static void a_connection_longer_than_the_number_space(void **state)
{
	const uint64_t total = 3ull << 32, step = 1u << 24;
	struct opening o = ordinary;
	struct segment last;
	char head[120];

	o.wscale = 14;
	conn_open(&conn, *state, &o);
	snprintf(head, sizeof(head), "POST / HTTP/1.1\r\nContent-Length: %llu\r\n^\r\n",
		 (unsigned long long)total);
	conn_send(&conn, head);
	conn_ack_all(&conn);
	for (uint64_t passed = 0; passed < total; passed += step) {
		struct segment s = conn_our_ack(&conn, false), want;

		s.payload = (const uint8_t *)GET;
		s.payload_len = GET_LEN;
		s.seq += step - GET_LEN;
		want = s;
		want.seq += LINE_LEN;
		conn_expect(&conn, &s, &want);
		conn.stream.first += step;
		conn_ack_all(&conn);
	}
	conn_answer(&conn, ANSWER);
	for (int i = 0; i < 3; i++) {
		conn_send(&conn, GET);
		conn_transmit(&conn, conn.stream.len - GET_LEN, conn.stream.len);
		conn_answer(&conn, ANSWER);
	}
	assert_int_equal(rig_count(*state, REASON_INJECTED), 4);
	conn_send_fin(&conn);
	conn_ack(&conn, stream_to_wire(&conn.stream, conn.stream.len) + 1);
	conn_receive_fin(&conn, true);
	last = conn_our_ack(&conn, true);
	conn_expect_shift(&conn, &last, 4 * LINE_LEN);
	conn_expect_gone(&conn, 4 * LINE_LEN);
}

/* One packet of an opening: S SYN, A SYN-ACK, a ACK, D the first request, d the same again. */
static void open_by(char packet, uint8_t hops)
{
	uint8_t options[40];
	struct segment s = conn_segment(&conn, 0, 0);

	if (packet == 'D') {
		conn_send(&conn, GET);
		return;
	}
	if (packet == 'd') {
		conn_transmit(&conn, 0, conn.stream.len);
		return;
	}
	if (packet == 'S') {
		s.seq = ordinary.isn;
		s.ack = 0;
		s.flags = SYN;
	} else if (packet == 'A') {
		s = conn_syn_ack(&conn, &ordinary, options);
		conn.wscale_known = true;
	}
	s.hops = hops;
	conn_pass(&conn, &s);
}

/* Packets of the opening that are lost behind us, come again, or are overtaken by others. */
static void in_whatever_order_the_opening_passes(void **state)
{
	static const char *const orders[] = {"SAaD",   "SSAaD",  "SAAaD",    "SASaD",  "SASAaD",
					     "SAD",    "SADa",   "SADA",     "SADS",   "SADdAa",
					     "SAaDSd", "SAaDAd", "SASADSAd", "SAaDdSA"};

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		conn_meet(&conn, *state, &ordinary);
		for (const char *packet = orders[i]; *packet; packet++)
			open_by(*packet, 0);
		assert_int_equal(rig_count(*state, REASON_OPEN), 1);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
		conn_answer(&conn, ANSWER);
		conn_send(&conn, GET);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
	}
}

/*
 * A packet comes here, leaves, and comes back to pass again, by way of a box that inspects it: it
 * would be changed both times. The opening tells.
 */
static void a_connection_that_passes_twice(void **state)
{
	static const char *const orders[] = {"SSAAa", "SSAa", "SAAa"};

	for (size_t i = 0; i < SHAPES * sizeof(orders) / sizeof(orders[0]); i++) {
		const char *order = orders[i / SHAPES];
		struct opening o = ordinary;

		o.shape = shapes[i % SHAPES];
		conn_meet(&conn, *state, &o);
		for (size_t at = 0; order[at]; at++)
			open_by(order[at], at && order[at] == order[at - 1]);
		for (int j = 0; j < 2; j++) {
			conn_send(&conn, PLAIN);
			conn_ack_all(&conn);
		}
		assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
		assert_int_equal(rig_count(*state, REASON_TWICE), 1);
		assert_int_equal(conn_flow(&conn).opaque_reason, REASON_TWICE);
	}
}

/* Or a stranger wants us to think so: what fits the numbers of the connection is translated. */
static void the_other_side_uses_the_ports_again(void **state)
{
	uint8_t options[40];
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_ack_all(&conn);
	s = conn_segment(&conn, 0, 0);
	s.flags = SYN | ACK;
	s.seq = ordinary.isn + 0x40000000;
	conn_pass(&conn, &s);
	s = conn_incoming(&conn, &(struct incoming){.ack = 0x40000000, .data = "hello"}, options);
	conn_pass(&conn, &s);
	s = conn_our_ack(&conn, false);
	s.seq += 0x40000000;
	conn_pass(&conn, &s);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
}

static void data_in_the_syn(void **state)
{
	uint8_t options[40];
	struct segment s;

	conn_meet(&conn, *state, &ordinary);
	stream_write_marked(&conn.stream, PLAIN);
	s = conn_segment(&conn, 0, GET_LEN);
	s.flags = SYN;
	s.seq = ordinary.isn;
	s.ack = 0;
	conn_pass(&conn, &s);
	expect_counts(*state, {0});
	s = conn_syn_ack(&conn, &ordinary, options);
	s.ack += GET_LEN;
	conn_pass(&conn, &s);
	expect_counts(*state, {REASON_OPEN, 1}, {REASON_SYN_DATA, 1});
	conn_send(&conn, PLAIN);
	conn_ack_all(&conn);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
	assert_int_equal(conn_flow(&conn).opaque_reason, REASON_SYN_DATA);
}

/* Fast Open that the peer does not take: the SYN goes again without, or the data alone. */
static void data_in_the_syn_that_is_not_taken(void **state)
{
	for (int again = 0; again < 2; again++) {
		uint8_t options[40];
		struct segment s;

		conn_meet(&conn, *state, &ordinary);
		stream_write_marked(&conn.stream, PLAIN);
		for (int i = 0; i <= again; i++) {
			s = conn_segment(&conn, 0, i ? 0 : GET_LEN);
			s.flags = SYN;
			s.seq = ordinary.isn;
			s.ack = 0;
			conn_pass(&conn, &s);
		}
		s = conn_syn_ack(&conn, &ordinary, options);
		conn_pass(&conn, &s);
		conn_transmit(&conn, 0, GET_LEN);
		conn_ack_all(&conn);
		expect_counts(*state, {REASON_OPEN, 1}, {REASON_SYN_DATA, 1});
	}
}

/* What a server sends on a connection that it did not open, however it looks. */
static void the_passive_side_is_left_alone(void **state)
{
	struct segment s;

	conn_meet(&conn, *state, &ordinary);
	s = conn_segment(&conn, 0, 0);
	s.flags = SYN;
	s.from_peer = true;
	conn_pass(&conn, &s);
	s = conn_segment(&conn, 0, 0);
	s.flags = SYN | ACK;
	conn_pass(&conn, &s);
	conn_send(&conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	assert_false(conn_is_known(&conn));
	expect_counts(*state, {REASON_OPEN, 0});
}

static void a_full_table_lets_everything_pass(void **state)
{
	struct rig *small = rig_open(1);

	(void)state;
	conn_open(&conn, small, &ordinary);
	conn_send(&conn, GET);
	conn_open(&conn, small, &ordinary);
	conn.wscale_known = false;
	conn_send(&conn, PLAIN);
	conn_ack_all(&conn);
	assert_true(rig_count(small, REASON_TABLE_FULL) > 0);
	assert_int_equal(rig_count(small, REASON_INJECTED), 0);
	/* The port of the first one is used again. */
	small->port -= 2;
	conn_open(&conn, small, &far);
	conn_send(&conn, GET);
	rig_close(small);
}

/* A flood of connections that say nothing: they make room for one another, and for the next. */
static void a_flood_of_openings(void **state)
{
	struct rig *small = rig_open(64);
	static struct conn first;

	(void)state;
	conn_open(&conn, small, &ordinary);
	conn_send(&conn, GET);
	first = conn;
	for (int i = 0; i < 200; i++)
		conn_open(&conn, small, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	conn = first;
	conn_answer(&conn, ANSWER);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	rig_close(small);
}

/* And one of requests that belong to no connection, in the names of many. */
static void a_flood_of_requests_without_connections(void **state)
{
	struct rig *small = rig_open(2048);

	(void)state;
	for (int i = 0; i < 4096; i++) {
		conn_meet(&conn, small, &ordinary);
		conn_send(&conn, PLAIN);
	}
	assert_int_equal(rig_count(small, REASON_TABLE_FULL), 0);
	assert_int_equal(rig_flows(small), 1024);
	conn_open(&conn, small, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	rig_close(small);
}

static void get_on_a_new_connection(struct rig *rig, bool ipv6)
{
	struct opening o = ordinary;

	o.shape.ipv6 = ipv6;
	conn_open(&conn, rig, &o);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
}

/* Where half of the table has headers nobody gets more than a share, until some of his are over. */
static void each_sender_has_a_share(void **state)
{
	struct rig *small = rig_open_with_shares(32);
	struct opening other = ordinary;

	(void)state;
	other.shape.ipv6 = true;
	for (int i = 0; i < 16; i++)
		get_on_a_new_connection(small, false);
	conn_open(&conn, small, &ordinary);
	conn_send(&conn, PLAIN);
	assert_int_equal(rig_count(small, REASON_SHARE_FULL), 1);
	for (int i = 0; i < 4; i++)
		get_on_a_new_connection(small, true);
	conn_open(&conn, small, &other);
	conn_send(&conn, PLAIN);
	assert_int_equal(rig_count(small, REASON_SHARE_FULL), 1);
	rig_close(small);
}

/* A connection that is over leaves its sender's share. */
static void shares_are_left(void **state)
{
	struct rig *small = rig_open_with_shares(32);

	(void)state;
	for (int i = 0; i < 40; i++) {
		struct segment s;

		get_on_a_new_connection(small, false);
		s = conn_our_ack(&conn, false);
		s.flags = RST | ACK;
		conn_expect_shift(&conn, &s, LINE_LEN);
		conn_expect_reset(&conn);
	}
	rig_close(small);
}

int test_life(void)
{
	const struct CMUnitTest life[] = {
	    cmocka_unit_test(a_new_connection_on_the_same_port),
	    cmocka_unit_test(a_new_connection_after_one_that_is_left_alone),
	    cmocka_unit_test(a_syn_that_comes_again_changes_nothing),
	    cmocka_unit_test(a_syn_that_comes_again_with_another_number),
	    cmocka_unit_test(a_connection_longer_than_the_number_space),
	    cmocka_unit_test(in_whatever_order_the_opening_passes),
	    cmocka_unit_test(a_connection_that_passes_twice),
	    cmocka_unit_test(the_other_side_uses_the_ports_again),
	    cmocka_unit_test(data_in_the_syn),
	    cmocka_unit_test(data_in_the_syn_that_is_not_taken),
	    cmocka_unit_test(the_passive_side_is_left_alone),
	    cmocka_unit_test(a_full_table_lets_everything_pass),
	    cmocka_unit_test(a_flood_of_openings),
	    cmocka_unit_test(a_flood_of_requests_without_connections),
	    cmocka_unit_test(each_sender_has_a_share),
	    cmocka_unit_test(shares_are_left),
	};

	return cmocka_run_group_tests(life, rig_setup, rig_teardown);
}
