// SPDX-License-Identifier: Apache-2.0
/* Who resets a connection, and who only says so. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ending.h"
#include "topics.h"

static struct conn conn;

static void we_reset(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	s = conn_our_ack(&conn, false);
	s.flags = RST | ACK;
	conn_expect_shift(&conn, &s, LINE_LEN);
	conn_expect_reset(&conn);
}

/*
 * Our RST was lost, or came before bytes that were: the peer still talks. There is no socket for it
 * any more, and what answers takes its number from the acknowledgement at hand.
 */
static void our_reset_comes_again_in_the_numbers_of_the_peer(void **state)
{
	struct incoming said = {.ack = GET_LEN + LINE_LEN, .data = ANSWER};
	uint8_t options[40];
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	s = conn_our_ack(&conn, false);
	s.flags = RST | ACK;
	conn_expect_shift(&conn, &s, LINE_LEN);
	for (int i = 0; i < 3; i++) {
		said.more = i == 1 ? FIN : 0;
		s = conn_incoming(&conn, &said, options);
		conn_expect_shift(&conn, &s, -LINE_LEN);
		s = conn_our_ack(&conn, false);
		s.flags = RST;
		conn_expect_shift(&conn, &s, LINE_LEN);
	}
	conn_expect_reset(&conn);
}

/* A RST of ours whose number is that of app offset `at`. */
static struct segment our_reset(int32_t at, uint8_t flags)
{
	struct segment s = conn_segment(&conn, conn.stream.len, conn.stream.len);

	s.seq = conn.stream.first + at;
	s.flags = flags;
	s.ack = flags & ACK ? s.ack : 0;
	return s;
}

/* Where the peer can expect the next byte: what stands behind it may have been lost. */
static void we_reset_at_any_byte_in_flight(void **state)
{
	for (int32_t at = GET_LEN; at <= 2 * GET_LEN; at++) {
		struct segment s;

		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, GET);
		conn_answer(&conn, ANSWER);
		conn_send(&conn, GET);
		s = our_reset(at, at & 1 ? RST : RST | ACK);
		conn_expect_shift(&conn, &s, (int32_t)stream_to_wire(&conn.stream, at) - at);
		conn_expect_reset(&conn);
	}
}

/* Half an edit has arrived: what answers the peer then names the byte that it stands before. */
static void we_reset_within_an_edit(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_ack(&conn, 60);
	s = our_reset((int32_t)stream_to_app(&conn.stream, 60), RST);
	conn_pass(&conn, &s);
	conn_expect_reset(&conn);
}

/* Its place is that of our FIN, or the one behind it. */
static void we_reset_behind_our_fin(void **state)
{
	for (int acked = 0; acked < 2; acked++) {
		for (int behind = 0; behind < 2; behind++) {
			struct segment s;

			conn_open(&conn, *state, &ordinary);
			conn_send(&conn, GET);
			conn_send_fin(&conn);
			conn_ack(&conn, GET_LEN + LINE_LEN + acked);
			s = our_reset(GET_LEN + behind, RST);
			conn_expect_shift(&conn, &s, LINE_LEN);
			conn_expect_reset(&conn);
		}
	}
}

/*
 * A stranger behind a gateway can send one. It is translated like any other packet, and the
 * connection goes on as if it had not been there.
 */
static void a_reset_of_ours_at_another_place_is_not_believed(void **state)
{
	static const int32_t beside[] = {-1, -GET_LEN, -60000, 2, 100, 60000, 1 << 30, INT32_MIN};
	static const uint8_t flags[] = {RST, RST | ACK};

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		struct segment s = our_reset((int32_t)conn.stream.len + beside[i], flags[i & 1]);

		conn_expect_shift(&conn, &s, LINE_LEN * (int)(i + 1));
		assert_true(conn_is_known(&conn));
		conn_send(&conn, GET);
		conn_transmit(&conn, conn.stream.len - GET_LEN, conn.stream.len);
		conn_answer(&conn, ANSWER);
		assert_int_equal(conn_in_flight(&conn), 0);
	}
	assert_int_equal(rig_count(*state, REASON_INJECTED), 9);
}

/* Nor when somebody has claimed before that more was sent. */
static void a_reset_behind_bytes_that_the_peer_cannot_take_is_not_believed(void **state)
{
	struct opening o = ordinary;
	struct segment s;

	o.shape.options = 0;
	conn_open(&conn, *state, &o);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	s = conn_our_ack(&conn, false);
	s.seq += 1 << 20;
	s.payload = (const uint8_t *)PLAIN;
	s.payload_len = GET_LEN;
	conn_expect_shift(&conn, &s, LINE_LEN);
	s = our_reset((int32_t)conn.stream.len + (1 << 20) + GET_LEN, RST);
	conn_expect_shift(&conn, &s, LINE_LEN);
	assert_true(conn_is_known(&conn));
	conn_send(&conn, PLAIN);
	conn_answer(&conn, ANSWER);
	s = our_reset((int32_t)conn.stream.len, RST);
	conn_expect_shift(&conn, &s, LINE_LEN);
	conn_expect_reset(&conn);
}

/* A FIN that is older than what the peer has acknowledged is a stranger's, too. */
static void a_fin_of_ours_at_another_place_is_not_believed(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	s = conn_our_ack(&conn, false);
	s.seq -= 100;
	s.flags = FIN | ACK;
	conn_expect_shift(&conn, &s, LINE_LEN);
	conn_receive_fin(&conn, false);
	s = conn_our_ack(&conn, false);
	conn_expect_shift(&conn, &s, LINE_LEN);
	conn_send(&conn, GET);
	conn_ack_all(&conn);
	conn_send_fin(&conn);
	conn_ack(&conn, stream_to_wire(&conn.stream, conn.stream.len) + 1);
	conn_expect_gone(&conn, 2 * LINE_LEN);
}

/* What it carries is a message (RFC 9293, 3.5.3): it is not read, and nothing follows it. */
static void what_a_reset_of_ours_carries_is_no_part_of_the_stream(void **state)
{
	static const char message[] = PLAIN;

	for (int believed = 0; believed < 2; believed++) {
		struct segment s;

		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, GET);
		conn_answer(&conn, ANSWER);
		s = our_reset((int32_t)conn.stream.len + (believed ? 0 : 2), RST | ACK);
		s.payload = (const uint8_t *)message;
		s.payload_len = strlen(message);
		conn_expect_shift(&conn, &s, LINE_LEN);
		assert_int_equal(conn_is_known(&conn), !believed);
		if (believed)
			continue;
		conn_send(&conn, GET);
		conn_answer(&conn, ANSWER);
	}
}

static void the_peer_resets(void **state)
{
	static const char *const first[] = {GET, PLAIN, TLS};

	for (int i = 0; i < 3; i++) {
		conn_open(&conn, *state, &ordinary);
		rig_pause(*state, i == 1);
		conn_send(&conn, first[i]);
		conn_receive(&conn, &(struct incoming){
					.ack = stream_to_wire(&conn.stream, conn.stream.len),
					.more = RST,
				    });
		conn_expect_reset(&conn);
		rig_pause(*state, false);
	}
}

/* It has sent an answer, which our side has not acknowledged yet. */
static void the_peer_resets_behind_its_answer(void **state)
{
	for (int acked = 0; acked < 2; acked++) {
		size_t ack = acked ? GET_LEN + LINE_LEN : 0;

		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, GET);
		conn_receive(&conn, &(struct incoming){.ack = ack, .data = ANSWER});
		conn_receive(&conn, &(struct incoming){.ack = ack, .more = RST});
		conn_expect_reset(&conn);
	}
}

/* RFC 5961: a RST that is not exactly at the next byte may be forged. */
static void a_reset_at_another_place_is_not_believed(void **state)
{
	uint8_t options[40];
	struct segment s, want;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	/* Inside the edit, so that it does not retire. */
	s = want = conn_incoming(&conn, &(struct incoming){.ack = 60, .more = RST}, options);
	s.seq = want.seq += 100;
	want.ack = conn.stream.first + stream_to_app(&conn.stream, 60);
	want.window = conn_app_window(&conn, s.window, 60);
	conn_expect(&conn, &s, &want);
	assert_true(conn_is_known(&conn));
	conn_transmit(&conn, 0, GET_LEN);
}

/* Nor is it when nothing is in flight: TCP asks back, and the connection lives on. */
static void a_reset_of_an_idle_connection_at_another_place_is_not_believed(void **state)
{
	static const int32_t beside[] = {-1, 1, 100, 60000, 1 << 23};
	uint8_t options[40];
	struct segment s, want;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	s = conn_our_ack(&conn, false);
	conn_expect_shift(&conn, &s, LINE_LEN);
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		s = conn_incoming(&conn, &(struct incoming){.ack = GET_LEN + LINE_LEN, .more = RST},
				  options);
		s.seq += beside[i];
		want = s;
		want.ack -= LINE_LEN;
		want.window = conn_app_window(&conn, s.window, GET_LEN + LINE_LEN);
		conn_expect(&conn, &s, &want);
		assert_true(conn_is_known(&conn));
	}
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
}

/* What it seems to acknowledge is not: the edit may have to be sent again. */
static void a_reset_that_is_not_believed_acknowledges_nothing(void **state)
{
	struct incoming in = {.ack = GET_LEN + LINE_LEN, .more = RST};
	uint8_t options[40];
	struct segment s, want;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	s = conn_incoming(&conn, &in, options);
	s.seq += 100;
	want = s;
	want.ack -= LINE_LEN;
	want.window = conn_app_window(&conn, s.window, in.ack);
	conn_expect(&conn, &s, &want);
	assert_int_equal(conn_in_flight(&conn), 1);
	conn_transmit(&conn, 0, GET_LEN);
	conn_answer(&conn, ANSWER);
}

/* It names the place where the message begins that it carries. */
static void the_peer_resets_with_a_message(void **state)
{
	struct incoming in = {.ack = GET_LEN + LINE_LEN, .more = RST, .data = "no such user"};

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	conn_receive(&conn, &in);
	conn_expect_reset(&conn);
}

int test_reset(void)
{
	const struct CMUnitTest reset[] = {
	    cmocka_unit_test(we_reset),
	    cmocka_unit_test(our_reset_comes_again_in_the_numbers_of_the_peer),
	    cmocka_unit_test(we_reset_at_any_byte_in_flight),
	    cmocka_unit_test(we_reset_within_an_edit),
	    cmocka_unit_test(we_reset_behind_our_fin),
	    cmocka_unit_test(a_reset_of_ours_at_another_place_is_not_believed),
	    cmocka_unit_test(a_reset_behind_bytes_that_the_peer_cannot_take_is_not_believed),
	    cmocka_unit_test(a_fin_of_ours_at_another_place_is_not_believed),
	    cmocka_unit_test(what_a_reset_of_ours_carries_is_no_part_of_the_stream),
	    cmocka_unit_test(the_peer_resets),
	    cmocka_unit_test(the_peer_resets_behind_its_answer),
	    cmocka_unit_test(a_reset_at_another_place_is_not_believed),
	    cmocka_unit_test(a_reset_of_an_idle_connection_at_another_place_is_not_believed),
	    cmocka_unit_test(a_reset_that_is_not_believed_acknowledges_nothing),
	    cmocka_unit_test(the_peer_resets_with_a_message),
	};

	return cmocka_run_group_tests(reset, rig_setup, rig_teardown);
}
