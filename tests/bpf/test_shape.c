// SPDX-License-Identifier: Apache-2.0
/* Packets as they should not be: fragments, options, padding, pieces. Nothing crashes or breaks. */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "topics.h"

#define GET            "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN          "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_LEN        27
#define MORE_FRAGMENTS 0x2000

static struct conn conn;

static const struct shape ipv6 = {.ipv6 = true};

static void open_shape(struct rig *rig, const struct shape *shape)
{
	struct opening o = ordinary;

	o.shape = *shape;
	conn_open(&conn, rig, &o);
}

/* Short Ethernet frames are filled up; what counts is the length in the IP header. */
static void padding_is_not_payload(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct segment s;

		open_shape(*state, &shapes[i]);
		for (size_t padding = 1; padding <= 8; padding++) {
			s = conn_segment(&conn, 0, 0);
			s.padding = padding;
			conn_pass(&conn, &s);
		}
		assert_int_equal(conn_flow(&conn).next, conn.stream.first);
		stream_write_marked(&conn.stream, GET);
		s = conn_segment(&conn, 0, GET_LEN);
		s.padding = 6;
		conn_transmit_as(&conn, &s);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
		conn_send(&conn, GET);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
	}
}

static void padding_of_the_peer(void **state)
{
	for (size_t padding = 1; padding <= 8; padding++) {
		uint8_t options[40];
		struct segment s, want;

		open_shape(*state, &shapes[0]);
		conn_send(&conn, GET);
		s = conn_incoming(&conn, &(struct incoming){.ack = GET_LEN + LINE_LEN}, options);
		s.padding = padding;
		want = s;
		want.ack -= LINE_LEN;
		want.window = conn_app_window(&conn, s.window, s.ack - conn.stream.first);
		conn_expect(&conn, &s, &want);
	}
}

/* The first `len` bytes of a frame, in both directions, leave it as it is. */
static void try_piece(struct conn *c, const struct segment *s, size_t len)
{
	static struct frame frame, before;
	enum hook hook = s->from_peer ? HOOK_IN : HOOK_OUT;

	packet_build(s, &frame);
	frame.len = len;
	before = frame;
	assert_int_equal(rig_run(c->rig, hook, &c->shape, &c->meeting, &frame), VERDICT_NEXT);
	expect_frame(&frame, &before);
}

/* BPF_PROG_TEST_RUN wants an IP header behind 14 bytes; test_wire.c tries the shorter ones. */
static size_t shortest(const struct shape *shape)
{
	return shape->ipv6 ? ETH_HLEN + 40 : ETH_HLEN + 20;
}

static void pieces_of_every_length(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		static struct frame whole;
		uint8_t options[40];
		struct segment out, in;

		open_shape(*state, &shapes[i]);
		conn_send(&conn, GET);
		out = conn_segment(&conn, 0, GET_LEN);
		packet_build(&out, &whole);
		for (size_t len = shortest(&shapes[i]); len < whole.len; len++)
			try_piece(&conn, &out, len);
		in = conn_incoming(
		    &conn, &(struct incoming){.ack = 40, .sacks = 2, .sack = {{50, 60}, {70, 97}}},
		    options);
		packet_build(&in, &whole);
		for (size_t len = shortest(&shapes[i]); len < whole.len; len++)
			try_piece(&conn, &in, len);
		/* Nothing of that was believed. */
		conn_transmit(&conn, 0, GET_LEN);
		conn_ack_all(&conn);
	}
}

/* A TCP header that says it is longer than the packet, or shorter than a header. */
static void a_header_of_impossible_length(void **state)
{
	for (uint8_t words = 0; words < 16; words++) {
		static struct frame frame, before;
		struct segment s;

		open_shape(*state, &shapes[0]);
		conn_send(&conn, GET);
		s = conn_segment(&conn, GET_LEN, GET_LEN);
		if (words == 5)
			continue;
		packet_build(&s, &frame);
		frame.data[packet_tcp_offset(&s) + 12] = words << 4;
		before = frame;
		rig_forget_counts(*state);
		assert_int_equal(rig_run(*state, HOOK_OUT, &conn.shape, &conn.meeting, &frame),
				 VERDICT_NEXT);
		expect_frame(&frame, &before);
		expect_counts(*state, {REASON_TRUNCATED, 1});
	}
}

/* A request in a packet with IP options gets no header; its numbers are translated. */
static void ip_options(void **state)
{
	for (size_t len = 4; len <= 40; len += 4) {
		struct segment s;
		size_t from;

		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, GET);
		from = stream_write_marked(&conn.stream, PLAIN);
		s = conn_segment(&conn, from, conn.stream.len);
		s.ip_options = len;
		rig_forget_counts(*state);
		conn_transmit_as(&conn, &s);
		expect_counts(*state, {REASON_IP_OPTIONS, 1}, {REASON_SEQ, 1});
		/* Sent again together with the edited one, it still carries that edit. */
		s = conn_segment(&conn, 0, conn.stream.len);
		s.ip_options = len;
		conn_transmit_as(&conn, &s);
		expect_counts(*state, {REASON_RESENT, 1}, {REASON_GROWN, 1});
	}
}

static void ipv6_extension_headers(void **state)
{
	for (size_t len = 8; len <= 32; len += 8) {
		struct segment s;
		size_t from;

		open_shape(*state, &ipv6);
		conn_send(&conn, GET);
		from = stream_write_marked(&conn.stream, PLAIN);
		s = conn_segment(&conn, from, conn.stream.len);
		s.ip_options = len;
		rig_forget_counts(*state);
		conn_transmit_as(&conn, &s);
		expect_counts(*state, {REASON_IP_OPTIONS, 1}, {REASON_SEQ, 1});
	}
}

/* An incoming segment behind one line: what it acknowledges, and the window, are the app's. */
static void expect_translated(const struct segment *s)
{
	struct segment want = *s;

	want.ack -= LINE_LEN;
	want.window = conn_app_window(&conn, s->window, s->ack - conn.stream.first);
	conn_expect(&conn, s, &want);
}

static void acknowledgements_with_ip_options(void **state)
{
	for (int v6 = 0; v6 < 2; v6++) {
		uint8_t options[40];
		struct segment s;

		open_shape(*state, v6 ? &ipv6 : &shapes[0]);
		conn_send(&conn, GET);
		s = conn_incoming(&conn, &(struct incoming){.ack = GET_LEN + LINE_LEN}, options);
		s.ip_options = 8;
		expect_translated(&s);
	}
}

/* Flags and offset of the first of several fragments, of one in the middle, and of the last. */
static uint16_t fragment_field(bool v6, size_t offset, bool more)
{
	return v6 ? offset | more : offset / 8 | (more ? MORE_FRAGMENTS : 0);
}

/* The first fragment is renumbered, the others have no number. */
static void fragments(void **state)
{
	for (int v6 = 0; v6 < 2; v6++) {
		struct segment s;
		size_t from;

		open_shape(*state, v6 ? &ipv6 : &shapes[0]);
		conn_send(&conn, GET);
		from = stream_write_marked(&conn.stream, PLAIN);
		rig_forget_counts(*state);
		s = conn_segment(&conn, from, conn.stream.len);
		s.fragment = fragment_field(v6, 0, true);
		conn_transmit_as(&conn, &s);
		expect_counts(*state, {REASON_FRAGMENT, 1}, {REASON_SEQ, 1});
		s.fragment = fragment_field(v6, 512, false);
		conn_pass(&conn, &s);
		s.fragment = fragment_field(v6, 512, true);
		conn_pass(&conn, &s);
		expect_counts(*state, {REASON_SEQ, 0});
	}
}

/* What the peer acknowledges in a fragment. */
static void acknowledgements_in_fragments(void **state)
{
	for (int v6 = 0; v6 < 2; v6++) {
		uint8_t options[40];
		struct segment s;

		open_shape(*state, v6 ? &ipv6 : &shapes[0]);
		conn_send(&conn, GET);
		s = conn_incoming(
		    &conn, &(struct incoming){.ack = GET_LEN + LINE_LEN, .data = "HTTP/1.1 2"},
		    options);
		s.fragment = fragment_field(v6, 0, true);
		expect_translated(&s);
	}
}

/* A fragment cannot carry an edit that is in flight: where nothing can go ahead of it, it is
 * better lost than half. */
static void a_fragment_that_covers_an_edit_is_dropped(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	rig_forget_counts(*state);
	s = conn_segment(&conn, 0, GET_LEN);
	s.fragment = MORE_FRAGMENTS;
	conn_drop(&conn, &s);
	expect_counts(*state, {REASON_DROPPED, 1}, {REASON_FRAGMENT, 1});
	/* All of its bytes may be in the others. */
	s = conn_segment(&conn, 0, 0);
	s.fragment = MORE_FRAGMENTS;
	conn_drop(&conn, &s);
	expect_counts(*state, {REASON_DROPPED, 1});
	conn_transmit(&conn, 0, GET_LEN);
}

/* Only one fragment: IPv6 can say so. It is injected no more than any with such headers. */
static void a_fragment_that_is_all(void **state)
{
	struct segment s;
	size_t from;

	open_shape(*state, &ipv6);
	conn_send(&conn, GET);
	from = stream_write_marked(&conn.stream, PLAIN);
	rig_forget_counts(*state);
	s = conn_segment(&conn, from, conn.stream.len);
	s.ip_options = 8; /* and one other */
	s.fragment = 2;   /* a reserved bit: not 0, and says nothing */
	conn_transmit_as(&conn, &s);
	expect_counts(*state, {REASON_IP_OPTIONS, 1}, {REASON_SEQ, 1});
}

/* Other protocols, whatever they contain, are not looked at. */
static void what_is_not_tcp(void **state)
{
	static struct frame frame, before;
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	stream_write_marked(&conn.stream, PLAIN);
	s = conn_segment(&conn, 0, conn.stream.len);
	packet_build(&s, &frame);
	for (int proto = 0; proto < 256; proto++) {
		if (proto == 6)
			continue;
		frame.data[packet_network_offset(&s.shape) + offsetof(struct iphdr, protocol)] =
		    proto;
		before = frame;
		for (enum hook hook = HOOK_OUT; hook <= HOOK_IN; hook++) {
			assert_int_equal(rig_run(*state, hook, &s.shape, &conn.meeting, &frame),
					 VERDICT_NEXT);
			expect_frame(&frame, &before);
		}
	}
	expect_counts(*state, {REASON_INJECTED, 0});
}

static void three_vlan_tags_pass(void **state)
{
	struct segment s;
	struct shape shape = {.tags = 3};

	open_shape(*state, &shapes[0]);
	stream_write_marked(&conn.stream, PLAIN);
	s = conn_segment(&conn, 0, conn.stream.len);
	s.shape = shape;
	conn_pass(&conn, &s);
	expect_counts(*state, {REASON_INJECTED, 0});
}

/* Not one byte of anything changes when random bytes come by. */
static void noise(void **state)
{
	static struct frame frame, before;
	uint32_t random = 1;

	for (int i = 0; i < 20000; i++) {
		const struct shape *shape = &shapes[i % SHAPES];
		struct segment s;

		if (i % 100 == 0)
			open_shape(*state, shape);
		s = conn_segment(&conn, 0, 0);
		s.shape = *shape;
		s.payload_len = i % 80;
		packet_build(&s, &frame);
		for (size_t at = 12; at < frame.len; at += 1 + (random >> 20) % 16) {
			random = random * 1664525 + 1013904223;
			frame.data[at] ^= random >> 24;
		}
		before = frame;
		assert_int_equal(
		    rig_run(*state, i & 1 ? HOOK_IN : HOOK_OUT, shape, &conn.meeting, &frame),
		    VERDICT_NEXT);
		expect_frame(&frame, &before);
	}
}

int test_shape(void)
{
	const struct CMUnitTest shape[] = {
	    cmocka_unit_test(padding_is_not_payload),
	    cmocka_unit_test(padding_of_the_peer),
	    cmocka_unit_test(pieces_of_every_length),
	    cmocka_unit_test(a_header_of_impossible_length),
	    cmocka_unit_test(ip_options),
	    cmocka_unit_test(ipv6_extension_headers),
	    cmocka_unit_test(acknowledgements_with_ip_options),
	    cmocka_unit_test(fragments),
	    cmocka_unit_test(a_fragment_that_covers_an_edit_is_dropped),
	    cmocka_unit_test(acknowledgements_in_fragments),
	    cmocka_unit_test(a_fragment_that_is_all),
	    cmocka_unit_test(what_is_not_tcp),
	    cmocka_unit_test(three_vlan_tags_pass),
	    cmocka_unit_test(noise),
	};

	return cmocka_run_group_tests(shape, rig_setup, rig_teardown);
}
