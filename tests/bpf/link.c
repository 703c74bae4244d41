// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "link.h"

static int setup(void **state, enum wire_kind kind)
{
	const struct shape shape = {.ip_device = kind == WIRE_TUN};
	struct link *link = calloc(1, sizeof(*link));
	void *rig;

	assert_non_null(link);
	rig_setup(&rig);
	link->kind = kind;
	link->rig = rig;
	link->wire =
	    wire_open(kind, rig_program(rig, HOOK_OUT, &shape), rig_program(rig, HOOK_IN, &shape));
	*state = link;
	return 0;
}

int link_setup(void **state)
{
	return setup(state, WIRE_LOCAL);
}

int link_setup_forwarded(void **state)
{
	return setup(state, WIRE_FORWARDED);
}

int link_setup_tun(void **state)
{
	return setup(state, WIRE_TUN);
}

bool link_carries(const struct link *link, const struct shape *shape)
{
	if (link->kind == WIRE_FORWARDED)
		return !shape->ip_device && !shape->ipv6 && !shape->tags; /* see wire_open.c */
	return shape->ip_device == (link->kind == WIRE_TUN);
}

int link_teardown(void **state)
{
	struct link *link = *state;

	if (link->wire)
		wire_close(link->wire);
	free(link);
	return 0;
}

const struct shape *link_shape(const struct link *link)
{
	static const struct shape tun = {.ip_device = true, .options = 12};

	return link->kind == WIRE_TUN ? &tun : &ordinary.shape;
}

void link_open(struct conn *c, const struct link *link, const struct opening *opening)
{
	if (!link->wire)
		skip();
	conn_open(c, link->rig, opening);
}

/* The header that says what a fragment is. */
static uint16_t fragment_field(const struct segment *s, const struct frame *frame)
{
	size_t tcp = packet_tcp_offset(s);

	return get16(frame->data + (s->shape.ipv6 ? tcp - 8 + 2 : tcp - 20 + 6));
}

void link_replaces_fragment(struct conn *c, size_t from, size_t to)
{
	static struct frame frame, got;
	static uint8_t wire[FRAME_MAX];
	struct segment s = conn_segment(c, from, to);
	size_t payload, len;

	s.fragment = s.shape.ipv6 ? 1 : 0x2000;
	packet_build(&s, &frame);
	rig_forget_counts(c->rig);
	wire_send(c->wire, &frame, &(struct offload){});
	wire_receive(c->wire, &got, NULL);
	payload = packet_payload_offset(&s);
	len = stream_wire_bytes(&c->stream, from, to, NULL, 0, wire) & ~1ul;
	assert_int_equal(got.len, payload + len);
	assert_memory_equal(got.data + payload, wire, len);
	assert_int_equal(get32(got.data + packet_tcp_offset(&s) + 4),
			 c->stream.first + stream_to_wire(&c->stream, from));
	assert_int_equal(fragment_field(&s, &got), 0);
	assert_int_equal(rig_count(c->rig, REASON_DROPPED), 1);
	assert_int_equal(rig_count(c->rig, REASON_BAD_CHECKSUM), 0);
	wire_expect_silence(c->wire);
}
