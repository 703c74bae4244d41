// SPDX-License-Identifier: Apache-2.0
/*
 * Packets as the node's own TCP sends them: through the device, with the checksum and the
 * segmentation left to it. What arrives at the other end of the link is compared, and that
 * the rest of the work is still the device's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "link.h"
#include "topics.h"

#define GET     "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_LEN 27
/* With the longest TCP header and two VLAN tags it still fits the device. */
#define MSS 1408
/* How deep a packet is rewritten at most. */
#define WIRE_MAX 4096

static struct conn conn;

static void open_conn(void **state, const struct shape *shape, bool partial)
{
	const struct link *link = *state;
	struct opening o = ordinary;

	o.shape = *shape;
	link_open(&conn, link, &o);
	conn_go_by_wire(&conn, link->wire, partial, partial ? MSS : 0);
}

/* A request with a body of `len` bytes, as one write of the app. Returns its offset. */
static size_t write_post(size_t len)
{
	char line[100];
	size_t from;

	snprintf(line, sizeof(line), "POST / HTTP/1.1\r\n^Content-Length: %zu\r\n\r\n", len);
	from = stream_write_marked(&conn.stream, line);
	while (len--)
		stream_write(&conn.stream, &"0123456789a"[len % 11], 1);
	return from;
}

/* Both with the checksum left to the device and with a whole one, as of a forwarded packet. */
static void grown(void **state)
{
	for (int i = 0; i < 2 * SHAPES; i++) {
		if (!link_carries(*state, &shapes[i / 2]))
			continue;
		open_conn(state, &shapes[i / 2], i & 1);
		conn_send(&conn, GET);
		conn_send(&conn, "POST /x HTTP/1.1\r\nContent-Length: 7\r\n^\r\nabcdefg");
		expect_counts(conn.rig, {REASON_INJECTED, 2}, {REASON_GROWN, 2});
		conn_transmit(&conn, 0, conn.stream.len);
		conn_transmit(&conn, 3, 40);
		conn_ack_all(&conn);
		conn_send(&conn, GET);
		conn_transmit(&conn, conn.stream.len, conn.stream.len);
	}
}

static void split_without_segmentation(void **state)
{
	for (int i = 0; i < 2 * SHAPES; i++) {
		size_t len = 1460 - shapes[i / 2].options - 80;
		size_t from;

		if (!link_carries(*state, &shapes[i / 2]))
			continue;
		open_conn(state, &shapes[i / 2], i & 1);
		from = write_post(len - 20 + i / 2);
		conn_transmit(&conn, from, conn.stream.len);
		expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 1});
		conn_transmit(&conn, from, conn.stream.len);
		conn_transmit(&conn, from + 7, conn.stream.len);
		conn_ack_all(&conn);
		conn_send(&conn, GET);
	}
}

/* A packet that the device will cut keeps its length, its segments and its checksum's place. */
static void split_with_segmentation(void **state)
{
	static const size_t bodies[] = {1449, 2900, 5000, 20000, 60000};

	for (size_t i = 0; i < SHAPES; i++) {
		if (!link_carries(*state, &shapes[i]))
			continue;
		for (size_t n = 0; n < sizeof(bodies) / sizeof(bodies[0]); n++) {
			open_conn(state, &shapes[i], true);
			write_post(bodies[n]);
			conn_transmit(&conn, 0, conn.stream.len);
			expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_SPLIT, 1},
				      {REASON_LEAD, 1});
			/* Again, from before the edit and from behind it. */
			conn_transmit(&conn, 0, MSS);
			conn_transmit(&conn, 0, conn.stream.len);
			conn_transmit(&conn, MSS, conn.stream.len);
			conn_ack_all(&conn);
			conn_send(&conn, GET);
		}
	}
}

static void a_large_body_in_large_packets(void **state)
{
	size_t to;

	open_conn(state, link_shape(*state), true);
	write_post(65000);
	for (size_t from = 0; from < conn.stream.len; from = to) {
		to = from + 10 * MSS < conn.stream.len ? from + 10 * MSS : conn.stream.len;
		conn_transmit(&conn, from, to);
	}
	expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 1},
		      {REASON_SEQ, 4});
	conn_ack_all(&conn);
	conn_send(&conn, GET);
}

static void many_requests_in_a_large_packet(void **state)
{
	open_conn(state, link_shape(*state), true);
	for (int i = 0; i < 10; i++)
		write_post(200);
	conn_transmit(&conn, 0, conn.stream.len);
	expect_counts(conn.rig, {REASON_INJECTED, 10}, {REASON_SPLIT, 1}, {REASON_LEAD, 1});
	conn_transmit(&conn, 0, conn.stream.len);
	conn_transmit(&conn, 100, conn.stream.len - 100);
	conn_transmit(&conn, 0, MSS);
}

/* Behind another edit of a large packet, a place too deep: that request is left as it is. */
static void a_request_deep_inside_a_packet(void **state)
{
	open_conn(state, link_shape(*state), true);
	write_post(5000);
	stream_write_marked(&conn.stream, PLAIN);
	conn_transmit(&conn, 0, conn.stream.len);
	expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_DEEP, 1}, {REASON_SPLIT, 1},
		      {REASON_LEAD, 1});
	conn_send(&conn, GET);
}

/* A head with one long field, of which a part has been sent: its one place is deep. */
static void a_long_head_whose_end_is_deep(void **state)
{
	for (int i = 0; i < 2; i++) {
		size_t half;

		open_conn(state, link_shape(*state), true);
		stream_write_marked(&conn.stream, "GET / HTTP/1.1\r\nX-Long: ");
		for (size_t len = 0; len < 3 * WIRE_MAX; len++)
			stream_write(&conn.stream, &"0123456789a"[len % 11], 1);
		stream_write_marked(&conn.stream, "\r\n^\r\n");
		half = WIRE_MAX + 333 * i;
		conn_transmit(&conn, 0, half);
		conn_transmit(&conn, half, conn.stream.len);
		expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 1});
		conn_transmit(&conn, half, conn.stream.len);
		conn_transmit(&conn, 100, conn.stream.len);
		conn_send(&conn, GET);
	}
}

/* Frames arrive; each has the right bytes. Returns how far the stream is there without a hole. */
static size_t receive_pieces(const struct segment *s, size_t arrived)
{
	static struct frame got;
	static uint8_t wire[FRAME_MAX];
	uint64_t frames = rig_count(conn.rig, REASON_LEAD) + !rig_count(conn.rig, REASON_DROPPED);
	size_t payload = packet_payload_offset(s);

	stream_wire_bytes(&conn.stream, 0, conn.stream.len, NULL, 0, wire);
	while (frames--) {
		size_t at, len;

		wire_receive(conn.wire, &got, NULL);
		at = get32(got.data + packet_tcp_offset(s) + 4) - conn.stream.first;
		len = got.len - payload;
		assert_memory_equal(got.data + payload, wire + at, len);
		if (at <= arrived && at + len > arrived)
			arrived = at + len;
	}
	return arrived;
}

/*
 * Edits deeper than can be rewritten, in one packet: TCP has merged what it sends again. What
 * arrives must be right, and each time something must arrive, or it would go on for ever.
 */
static void merged_retransmissions_make_progress(void **state)
{
	size_t arrived = 0;

	open_conn(state, link_shape(*state), true);
	for (int i = 0; i < 2; i++) {
		size_t from = write_post(WIRE_MAX + 1000);

		conn_transmit(&conn, from, conn.stream.len);
	}
	conn_send(&conn, GET);
	while (arrived < stream_to_wire(&conn.stream, conn.stream.len)) {
		static struct frame frame;
		size_t from = stream_to_app(&conn.stream, arrived), before = arrived;
		struct segment s = conn_segment(&conn, from, conn.stream.len);
		struct offload work = {.partial = true,
				       .csum_start = packet_tcp_offset(&s),
				       .segment_size = s.payload_len > MSS ? MSS : 0};

		packet_build(&s, &frame);
		rig_forget_counts(conn.rig);
		wire_send(conn.wire, &frame, &work);
		arrived = receive_pieces(&s, arrived);
		assert_true(arrived > before);
		conn_ack(&conn, arrived);
	}
	conn_send(&conn, GET);
}

/* What is passed on, or sent by a packet socket, has no TCP socket that knows whether it lives. */
static void packets_that_no_tcp_socket_sends(void **state)
{
	open_conn(state, link_shape(*state), false);
	conn_send(&conn, GET);
	assert_int_equal(conn_flow(&conn).flags & (FLOW_LOCAL | FLOW_FORWARDED), FLOW_FORWARDED);
}

/*
 * A retransmission that covers an edit, cut to fragments on its way: the first one is replaced by a
 * packet that is whole, or the connection would wait for ever. So it is if the edit can only be
 * about bytes of those that follow, which leave without it.
 */
static void a_fragment_leaves_as_a_whole_packet(void **state)
{
	for (int i = 0; i < SHAPES; i++) {
		if (!link_carries(*state, &shapes[i]) || shapes[i].tags)
			continue;
		open_conn(state, &shapes[i], false);
		conn_send(&conn, GET);
		link_replaces_fragment(&conn, 0, 16);
		link_replaces_fragment(&conn, 0, GET_LEN);
		link_replaces_fragment(&conn, 8, GET_LEN - 2);
		link_replaces_fragment(&conn, GET_LEN - 2, GET_LEN);
	}
}

/* Frames that end anywhere arrive as they are. (Within a VLAN tag the kernel takes none.) */
static void pieces_of_every_length(void **state)
{
	static struct frame whole, piece, got;
	const struct link *link = *state;

	if (link->kind == WIRE_FORWARDED) {
		print_message("skipped: a router passes on no pieces\n");
		skip();
	}
	for (size_t i = 0; i < SHAPES; i++) {
		struct segment s;

		if (!link_carries(*state, &shapes[i]))
			continue;
		open_conn(state, &shapes[i], false);
		conn_send(&conn, GET);
		s = conn_segment(&conn, 0, GET_LEN);
		packet_build(&s, &whole);
		for (size_t len = packet_network_offset(&s.shape) + 2; len < whole.len; len++) {
			piece = whole;
			piece.len = len;
			wire_send(conn.wire, &piece, &(struct offload){});
			wire_receive(conn.wire, &got, NULL);
			expect_frame(&got, &piece);
		}
	}
}

/* What the node's own TCP sends, what it passes on for others, and without Ethernet. */
int test_device(void)
{
	const struct CMUnitTest device[] = {
	    cmocka_unit_test(grown),
	    cmocka_unit_test(split_without_segmentation),
	    cmocka_unit_test(split_with_segmentation),
	    cmocka_unit_test(a_large_body_in_large_packets),
	    cmocka_unit_test(many_requests_in_a_large_packet),
	    cmocka_unit_test(a_request_deep_inside_a_packet),
	    cmocka_unit_test(a_long_head_whose_end_is_deep),
	    cmocka_unit_test(merged_retransmissions_make_progress),
	    cmocka_unit_test(packets_that_no_tcp_socket_sends),
	    cmocka_unit_test(a_fragment_leaves_as_a_whole_packet),
	    cmocka_unit_test(pieces_of_every_length),
	};

	int failed = cmocka_run_group_tests_name("local", device, link_setup, link_teardown);

	failed |=
	    cmocka_run_group_tests_name("forwarded", device, link_setup_forwarded, link_teardown);
	return failed | cmocka_run_group_tests_name("tun", device, link_setup_tun, link_teardown);
}
