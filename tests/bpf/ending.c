// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "ending.h"

void conn_send_fin(struct conn *c)
{
	struct segment s = conn_segment(c, c->stream.len, c->stream.len);

	s.flags |= FIN;
	conn_transmit_as(c, &s);
}

void conn_receive_fin(struct conn *c, bool acks_ours)
{
	size_t end = stream_to_wire(&c->stream, c->stream.len);

	conn_receive(c, &(struct incoming){.ack = end + acks_ours, .more = FIN});
}

struct segment conn_our_ack(const struct conn *c, bool after_fin)
{
	struct segment s = conn_segment(c, c->stream.len, c->stream.len);

	s.seq += after_fin;
	return s;
}

void conn_expect_shift(struct conn *c, const struct segment *s, int32_t offset)
{
	struct segment want = *s;

	if (s->from_peer)
		want.ack += offset;
	else
		want.seq += offset;
	conn_expect(c, s, &want);
}

void conn_expect_gone(const struct conn *c, uint32_t want_offset)
{
	uint32_t offset = 0;

	assert_false(conn_is_known(c));
	assert_int_equal(rig_linger(c->rig, &c->shape, c->port, &offset), want_offset != 0);
	assert_int_equal(offset, want_offset);
}

void conn_expect_reset(const struct conn *c)
{
	if (!conn_is_known(c)) {
		conn_expect_gone(c, stream_inserted(&c->stream));
		return;
	}
	assert_true(conn_flow(c).flags & FLOW_RESET);
	assert_true(conn_in_flight(c) > 0);
}
