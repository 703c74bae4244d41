// SPDX-License-Identifier: Apache-2.0
/* How a flow ends with its FINs, and what is remembered of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ending.h"
#include "tcp_options.h"
#include "topics.h"

static struct conn conn;

/* A request and its answer, our FIN, that of the peer, and our last acknowledgement. */
static void close_first(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	conn_send_fin(&conn);
	conn_ack(&conn, stream_to_wire(&conn.stream, conn.stream.len) + 1);
	assert_true(conn_is_known(&conn));
	conn_receive_fin(&conn, true);
	assert_true(conn_is_known(&conn));
	s = conn_our_ack(&conn, true);
	conn_expect_shift(&conn, &s, LINE_LEN);
	conn_expect_gone(&conn, LINE_LEN);
	rig_forget_counts(*state);
}

static void we_close_first(void **state)
{
	uint8_t options[40];
	struct segment s;

	close_first(state);
	/* Our ACK was lost: the FIN comes again, and gets the same answer. */
	s = conn_incoming(&conn, &(struct incoming){.ack = GET_LEN + LINE_LEN + 1, .more = FIN},
			  options);
	s.seq -= 1;
	conn_expect_shift(&conn, &s, -LINE_LEN);
	s = conn_our_ack(&conn, true);
	conn_expect_shift(&conn, &s, LINE_LEN);
	expect_counts(*state, {REASON_LINGER, 2}, {REASON_ACK, 1}, {REASON_SEQ, 1});
}

/*
 * Our ACK was lost, and so were others before it: not only the FIN comes again. Nobody knows the
 * connection any more, so a RST answers, with the number that the peer's packet brings: only where
 * that one was translated, too, the peer believes it.
 */
static void what_the_peer_says_behind_the_end(void **state)
{
	static const struct incoming late[] = {
	    {.data = "the last bytes"},
	    {.data = "and the FIN", .more = FIN},
	    {.more = FIN},
	    {.data = NULL},
	    {.more = RST},
	};
	uint8_t options[40];

	close_first(state);
	for (size_t i = 0; i < sizeof(late) / sizeof(late[0]); i++) {
		struct incoming in = late[i];
		struct segment s;

		in.ack = GET_LEN + LINE_LEN + 1;
		s = conn_incoming(&conn, &in, options);
		conn_expect_shift(&conn, &s, -LINE_LEN);
		s = conn_our_ack(&conn, true);
		s.flags = RST;
		conn_expect_shift(&conn, &s, LINE_LEN);
	}
	expect_counts(*state, {REASON_LINGER, 10}, {REASON_ACK, 5}, {REASON_SEQ, 5});
}

/* The request and our FIN came twice, and the peer says so (D-SACK): behind a gateway TCP reads it.
 */
static void what_came_twice_behind_the_end(void **state)
{
	const size_t end = GET_LEN + LINE_LEN + 1;
	struct incoming late = {
	    .ack = end, .timestamps = true, .sacks = 1, .sack = {{LINE_LEN, end}}};
	uint8_t options[40], want_options[40];
	struct segment s, want;
	uint32_t edge[2];

	close_first(state);
	s = want = conn_incoming(&conn, &late, options);
	edge[0] = conn.stream.first;
	edge[1] = want.ack = conn.stream.first + GET_LEN + 1;
	want.options = want_options;
	tcp_sack(want_options + tcp_timestamps(want_options), 1, edge, 1);
	conn_expect(&conn, &s, &want);
}

/* The peer connects to our side from the same ports: its numbers are its own. */
static void the_other_way_round_on_the_same_ports(void **state)
{
	uint8_t options[40];
	struct segment s;

	close_first(state);
	s = conn_our_ack(&conn, false);
	s.flags = SYN | ACK;
	conn_pass(&conn, &s);
	s = conn_incoming(&conn, &(struct incoming){.ack = 1, .data = "hello"}, options);
	conn_pass(&conn, &s);
	s = conn_our_ack(&conn, true);
	conn_pass(&conn, &s);
	expect_counts(*state, {0});
}

static void the_peer_closes_first(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	conn_receive_fin(&conn, false);
	s = conn_our_ack(&conn, false);
	conn_expect_shift(&conn, &s, LINE_LEN);
	conn_send_fin(&conn);
	assert_true(conn_is_known(&conn));
	conn_ack(&conn, stream_to_wire(&conn.stream, conn.stream.len) + 1);
	conn_expect_gone(&conn, LINE_LEN);
}

static void both_close_at_once(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	conn_send_fin(&conn);
	conn_receive_fin(&conn, false);
	s = conn_our_ack(&conn, true);
	conn_expect_shift(&conn, &s, LINE_LEN);
	conn_ack(&conn, stream_to_wire(&conn.stream, conn.stream.len) + 1);
	conn_expect_gone(&conn, LINE_LEN);
}

/* The FINs cross, and that of the peer does not know of our last request yet. */
static void both_close_with_a_header_in_flight(void **state)
{
	for (size_t known = 0; known <= GET_LEN + LINE_LEN; known += 13) {
		struct segment s;

		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, GET);
		conn_send_fin(&conn);
		conn_receive(&conn, &(struct incoming){.ack = known, .more = FIN});
		s = conn_our_ack(&conn, true);
		conn_expect_shift(&conn, &s, LINE_LEN);
		/* All of it was lost, and comes again with the FIN. */
		s = conn_segment(&conn, 0, GET_LEN);
		s.flags |= FIN;
		conn_transmit_as(&conn, &s);
		conn_ack(&conn, GET_LEN + LINE_LEN + 1);
		conn_expect_gone(&conn, LINE_LEN);
	}
}

/* Half closed: the peer still talks, and we only acknowledge. */
static void half_closed(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_send_fin(&conn);
	for (int i = 0; i < 5; i++) {
		struct segment s;

		conn_receive(&conn, &(struct incoming){.ack = GET_LEN + LINE_LEN + 1,
						       .data = "HTTP/1.1 200 OK\r\n"});
		s = conn_our_ack(&conn, true);
		conn_expect_shift(&conn, &s, LINE_LEN);
	}
	assert_true(conn_is_known(&conn));
}

static void a_flow_without_edits_leaves_nothing(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send_fin(&conn);
	conn_receive_fin(&conn, true);
	s = conn_our_ack(&conn, true);
	conn_pass(&conn, &s);
	conn_expect_gone(&conn, 0);
}

/* A flow that is left alone ends too, whoever closes it. */
static void an_opaque_flow_leaves_nothing(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, TLS);
	conn_ack_all(&conn);
	conn_send_fin(&conn);
	conn_ack(&conn, conn.stream.len + 1);
	conn_receive_fin(&conn, true);
	s = conn_our_ack(&conn, true);
	conn_pass(&conn, &s);
	conn_expect_gone(&conn, 0);

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, TLS);
	conn_receive_fin(&conn, false);
	s = conn_our_ack(&conn, false);
	conn_pass(&conn, &s);
	conn_send_fin(&conn);
	conn_ack(&conn, conn.stream.len + 1);
	conn_expect_gone(&conn, 0);
}

int test_end(void)
{
	const struct CMUnitTest end[] = {
	    cmocka_unit_test(we_close_first),
	    cmocka_unit_test(what_the_peer_says_behind_the_end),
	    cmocka_unit_test(what_came_twice_behind_the_end),
	    cmocka_unit_test(the_other_way_round_on_the_same_ports),
	    cmocka_unit_test(the_peer_closes_first),
	    cmocka_unit_test(both_close_at_once),
	    cmocka_unit_test(both_close_with_a_header_in_flight),
	    cmocka_unit_test(half_closed),
	    cmocka_unit_test(a_flow_without_edits_leaves_nothing),
	    cmocka_unit_test(an_opaque_flow_leaves_nothing),
	};

	return cmocka_run_group_tests(end, rig_setup, rig_teardown);
}
