// SPDX-License-Identifier: Apache-2.0
/* ICMP errors quote our packets with wire numbers; our TCP must find its own in them. */
#include <linux/in.h>
#include <linux/in6.h>
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
#define WIRE_LEN       (GET_LEN + LINE_LEN)
#define ICMP_HEADER    8
#define UNREACHABLE    3
#define FRAG_NEEDED    4
#define TIME_EXCEEDED  11
#define V6_UNREACHABLE 1
#define V6_TOO_BIG     2

static struct conn conn;

/* An error about one of our segments. */
struct error {
	uint8_t type, code;
	uint16_t mtu;
	size_t quoted;  /* bytes of the quoted TCP segment */
	size_t options; /* bytes of IP options of the error itself and of what it quotes */
};

/* The quoted packet, as it left: with an IP header of ours. Returns its length. */
static size_t quote(const struct segment *s, size_t quoted, uint8_t *to)
{
	static struct frame frame;
	struct segment plain = *s;
	size_t header;

	plain.shape.ip_device = true;
	packet_build(&plain, &frame);
	header = packet_tcp_offset(&plain);
	memcpy(to, frame.data, header + quoted);
	return header + quoted;
}

/* The frame of an error about the segment `s`. */
static void build_error(const struct segment *s, const struct error *e, struct frame *ret_frame)
{
	uint8_t proto = s->shape.ipv6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	struct segment outer = {.shape = s->shape, .from_peer = true, .ip_options = e->options};
	struct segment inner = *s;
	uint8_t body[200] = {e->type, e->code};
	size_t at = packet_link_header(&s->shape, true, ret_frame), len;
	uint64_t sum;

	inner.ip_options = e->options;
	put16(body + 6, e->mtu);
	len = ICMP_HEADER + quote(&inner, e->quoted, body + ICMP_HEADER);
	sum = packet_sum(body, len, s->shape.ipv6 ? packet_pseudo_sum(&outer, proto, len) : 0);
	put16(body + 2, packet_checksum(sum));
	at += packet_ip_header(&outer, proto, len, ret_frame->data + at);
	memcpy(ret_frame->data + at, body, len);
	ret_frame->len = at + len;
}

/* The error is about the wire byte at offset `w`; our TCP is told app byte `a`. */
static void expect_error(struct rig *rig, const struct error *e, size_t w, size_t a)
{
	static struct frame got, want;
	struct segment s = conn_segment(&conn, 0, conn.stream.len);

	s.seq = conn.stream.first + w;
	build_error(&s, e, &got);
	s.seq = conn.stream.first + a;
	/* The quoted checksum is what it was. */
	build_error(&s, e, &want);
	assert_int_equal(rig_run(rig, HOOK_IN, &conn.shape, &conn.meeting, &got), VERDICT_NEXT);
	expect_frame(&got, &want);
}

static void open_shape(struct rig *rig, const struct shape *shape)
{
	struct opening o = ordinary;

	o.shape = *shape;
	conn_open(&conn, rig, &o);
}

static struct error too_big(const struct shape *shape)
{
	struct error v4 = {.type = UNREACHABLE, .code = FRAG_NEEDED, .mtu = 1400, .quoted = 8};
	struct error v6 = {.type = V6_TOO_BIG, .mtu = 1400, .quoted = 8};

	return shape->ipv6 ? v6 : v4;
}

static void about_every_wire_byte(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct error e = too_big(&shapes[i]);

		open_shape(*state, &shapes[i]);
		conn_send(&conn, GET);
		conn_send(&conn, GET);
		for (size_t w = 0; w < 2 * WIRE_LEN; w++)
			expect_error(*state, &e, w, stream_to_app(&conn.stream, w));
	}
}

static void about_what_comes_after_retired_edits(void **state)
{
	struct error e = too_big(&shapes[0]);

	open_shape(*state, &shapes[0]);
	for (int i = 0; i < 5; i++) {
		conn_send(&conn, GET);
		conn_ack_all(&conn);
	}
	conn_send(&conn, GET);
	expect_error(*state, &e, 5 * WIRE_LEN, 5 * GET_LEN);
}

static void of_every_kind(void **state)
{
	static const uint8_t v4[] = {UNREACHABLE, 4, TIME_EXCEEDED, 12};
	static const uint8_t v6[] = {V6_UNREACHABLE, V6_TOO_BIG, 3, 4};

	for (size_t i = 0; i < SHAPES; i++) {
		open_shape(*state, &shapes[i]);
		conn_send(&conn, GET);
		for (int n = 0; n < 4; n++) {
			struct error e = {.type = shapes[i].ipv6 ? v6[n] : v4[n], .quoted = 8};

			expect_error(*state, &e, WIRE_LEN, GET_LEN);
		}
	}
}

static void with_ip_options(void **state)
{
	struct error e = too_big(&shapes[0]);

	open_shape(*state, &shapes[0]);
	conn_send(&conn, GET);
	for (e.options = 4; e.options <= 40; e.options += 4)
		expect_error(*state, &e, WIRE_LEN, GET_LEN);
}

static void that_are_none_pass(void **state)
{
	static struct frame frame, before;

	for (int v6 = 0; v6 < 2; v6++) {
		const struct shape shape = {.ipv6 = v6};
		struct segment s;

		open_shape(*state, &shape);
		conn_send(&conn, GET);
		for (int type = 0; type < 256; type++) {
			struct error e = {.type = type, .quoted = 8};

			if (v6 ? type < 128 : type == 3 || type == 4 || type == 11 || type == 12)
				continue;
			s = conn_segment(&conn, GET_LEN, GET_LEN);
			build_error(&s, &e, &frame);
			before = frame;
			assert_int_equal(rig_run(*state, HOOK_IN, &shape, &conn.meeting, &frame),
					 VERDICT_NEXT);
			expect_frame(&frame, &before);
		}
	}
}

/* Cut anywhere: too short for a number, or nothing but that. */
static void of_every_length(void **state)
{
	static struct frame whole, got, piece;

	for (int v6 = 0; v6 < 2; v6++) {
		const struct shape shape = {.ipv6 = v6};
		struct error e = too_big(&shape);
		struct segment s;

		open_shape(*state, &shape);
		conn_send(&conn, GET);
		s = conn_segment(&conn, GET_LEN, GET_LEN);
		s.seq += LINE_LEN;
		build_error(&s, &e, &whole);
		for (size_t len = v6 ? 55 : 35; len < whole.len; len++) {
			got = whole;
			got.len = len;
			piece = got;
			assert_int_equal(rig_run(*state, HOOK_IN, &shape, &conn.meeting, &got),
					 VERDICT_NEXT);
			expect_frame(&got, &piece);
		}
	}
}

/* The path takes less: packets are not grown beyond it any more. */
static void the_path_is_narrower(void **state)
{
	for (int v6 = 0; v6 < 2; v6++) {
		const struct shape shape = {.ipv6 = v6};
		struct error e = too_big(&shape);

		open_shape(*state, &shape);
		expect_error(*state, &e, 0, 0);
		assert_int_equal(conn_flow(&conn).mss, 1400 - 20 - (v6 ? 40 : 20));
		/* It never becomes wider by such a message. */
		e.mtu = 1480;
		expect_error(*state, &e, 0, 0);
		assert_int_equal(conn_flow(&conn).mss, 1400 - 20 - (v6 ? 40 : 20));
	}
}

int test_icmp(void)
{
	const struct CMUnitTest icmp[] = {
	    cmocka_unit_test(about_every_wire_byte),
	    cmocka_unit_test(about_what_comes_after_retired_edits),
	    cmocka_unit_test(of_every_kind),
	    cmocka_unit_test(with_ip_options),
	    cmocka_unit_test(that_are_none_pass),
	    cmocka_unit_test(of_every_length),
	    cmocka_unit_test(the_path_is_narrower),
	};

	return cmocka_run_group_tests(icmp, rig_setup, rig_teardown);
}
