// SPDX-License-Identifier: Apache-2.0
/*
 * A stranger sends segments with the addresses and ports of a live connection, as if one side did:
 * the connection goes on, with every number translated and every header in its place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ending.h"
#include "topics.h"

static struct conn conn;

/* When the stranger comes: nothing, or a header, is in flight. */
enum moment { IDLE, IN_FLIGHT, MOMENTS };

/* How far his numbers lie from those of the connection. */
static const int32_t places[] = {0, 1, -1, 100, -100, 20000, 1 << 20, -(1 << 20), 0x30000000};
#define PLACES (sizeof(places) / sizeof(places[0]))

static void begin(void **state, const struct shape *shape, enum moment moment)
{
	struct opening o = ordinary;

	o.shape = *shape;
	conn_open(&conn, *state, &o);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	if (moment == IN_FLIGHT)
		conn_send(&conn, GET);
}

/* What is in flight comes again, and is answered; then more requests, each with its header. */
static void goes_on(enum moment moment)
{
	if (moment == IN_FLIGHT)
		conn_transmit(&conn, conn.stream.len - GET_LEN, conn.stream.len);
	conn_answer(&conn, ANSWER);
	for (int i = 0; i < 3; i++) {
		struct segment s = conn_our_ack(&conn, false);

		conn_expect_shift(&conn, &s, (int32_t)stream_inserted(&conn.stream));
		conn_send(&conn, GET);
		conn_transmit(&conn, conn.stream.len - GET_LEN, conn.stream.len);
		conn_answer(&conn, ANSWER);
	}
}

/* One of our side's, as it has to look here; its numbers beside those of the connection. */
static struct segment forged_of_ours(uint8_t flags, int32_t place)
{
	struct segment s = conn_our_ack(&conn, false);

	s.seq += place;
	s.ack += flags & RST ? 0 : place;
	s.flags = flags;
	if (!(flags & ACK))
		s.ack = 0;
	return s;
}

/* One of the peer's: so are its numbers. */
static struct segment forged_of_the_peer(uint8_t flags, int32_t place, uint8_t *ret_options)
{
	size_t end = stream_to_wire(&conn.stream, conn.stream.len);
	struct segment s = conn_incoming(
	    &conn, &(struct incoming){.ack = conn_in_flight(&conn) ? 0 : end}, ret_options);

	s.seq += place;
	s.flags = flags;
	if (flags & SYN)
		s.ack += place;
	if (!(flags & ACK))
		s.ack = 0;
	return s;
}

/* At the very place the peer's TCP takes it, and then the connection is over. */
static bool is_taken(uint8_t flags, int32_t place)
{
	return place == 0 && flags & (FIN | RST);
}

static void every_kind(void **state, bool from_peer)
{
	static const uint8_t kinds[] = {SYN, SYN | ACK, FIN | ACK, RST, RST | ACK};

	for (size_t i = 0; i < sizeof(kinds) * PLACES * MOMENTS * SHAPES; i++) {
		uint8_t options[40], kind = kinds[i % sizeof(kinds)];
		int32_t place = places[i / sizeof(kinds) % PLACES];
		enum moment moment = i / sizeof(kinds) / PLACES % MOMENTS;
		struct segment s;

		if (is_taken(kind, place))
			continue;
		begin(state, &shapes[i / sizeof(kinds) / PLACES / MOMENTS], moment);
		s = from_peer ? forged_of_the_peer(kind, place, options)
			      : forged_of_ours(kind, place);
		for (int times = 0; times < 2; times++)
			conn_stray(&conn, &s);
		goes_on(moment);
	}
}

static void in_our_name(void **state)
{
	every_kind(state, false);
}

static void in_the_name_of_the_peer(void **state)
{
	every_kind(state, true);
}

/* He opens another connection, and answers for both sides. */
static void both_sides_of_an_opening(void **state)
{
	for (size_t i = 0; i < PLACES * MOMENTS; i++) {
		int32_t place = places[i % PLACES];
		enum moment moment = i / PLACES;
		uint8_t options[40];
		struct segment s;

		begin(state, &ordinary.shape, moment);
		s = forged_of_ours(SYN, place - 1);
		conn_stray(&conn, &s);
		s = forged_of_the_peer(SYN | ACK, 0, options);
		s.seq += place - 1;
		s.ack = conn_our_ack(&conn, false).seq + place;
		conn_stray(&conn, &s);
		s = forged_of_ours(ACK, place);
		conn_stray(&conn, &s);
		goes_on(moment);
	}
}

/*
 * A RST that stands exactly where it has to, but is dropped behind us, by a firewall: with it the
 * programs take the flow for closed, and the connection lives.
 */
static void a_reset_that_does_not_arrive(void **state)
{
	for (int from_peer = 0; from_peer < 2; from_peer++) {
		for (enum moment moment = IDLE; moment < MOMENTS; moment++) {
			uint8_t options[40];
			struct segment s;

			begin(state, &ordinary.shape, moment);
			s = from_peer ? forged_of_the_peer(RST, 0, options)
				      : forged_of_ours(RST, 0);
			conn_stray(&conn, &s);
			conn_expect_reset(&conn);
			s = conn_our_ack(&conn, false);
			conn_expect_shift(&conn, &s, (int32_t)stream_inserted(&conn.stream));
			conn.wscale_known = conn_is_known(&conn);
			if (moment == IN_FLIGHT)
				conn_transmit(&conn, conn.stream.len - GET_LEN, conn.stream.len);
			conn_answer(&conn, ANSWER);
			for (int i = 0; i < 2; i++) {
				conn_send(&conn, i || moment == IN_FLIGHT ? GET : PLAIN);
				conn_answer(&conn, ANSWER);
			}
		}
	}
}

/* An answer to a SYN that nobody has sent makes nothing. */
static void a_syn_ack_that_nobody_asked_for(void **state)
{
	uint8_t options[40];
	struct segment s;

	conn_meet(&conn, *state, &ordinary);
	s = conn_syn_ack(&conn, &ordinary, options);
	conn_pass(&conn, &s);
	assert_false(conn_is_known(&conn));
	expect_counts(*state, {REASON_UNASKED, 1});
}

int test_forged(void)
{
	const struct CMUnitTest forged[] = {
	    cmocka_unit_test(in_our_name),
	    cmocka_unit_test(in_the_name_of_the_peer),
	    cmocka_unit_test(both_sides_of_an_opening),
	    cmocka_unit_test(a_reset_that_does_not_arrive),
	    cmocka_unit_test(a_syn_ack_that_nobody_asked_for),
	};

	return cmocka_run_group_tests(forged, rig_setup, rig_teardown);
}
