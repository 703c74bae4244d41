// SPDX-License-Identifier: Apache-2.0
/*
 * Packets without room for the header: a lead goes ahead of them, over a real link. The packet
 * itself comes back from BPF_PROG_TEST_RUN.
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
#define ANSWER  "HTTP/1.1 204 No Content\r\n\r\n"
/* MSS of the peer, less the timestamps. */
#define ROOM (1460 - 12)
/* What a retransmission may be grown to. */
#define SAFE 512

static struct rig *rig;
static struct wire *wire;
static struct conn conn;

static int setup(void **state)
{
	const struct link *link;

	link_setup(state);
	link = *state;
	rig = link->rig;
	wire = link->wire;
	return 0;
}

static void open_conn(const struct opening *o)
{
	link_open(&conn, &(struct link){.rig = rig, .wire = wire}, o);
	conn_use_wire(&conn, wire);
}

/* The app writes a request of `len` bytes, its fields padded; the header goes behind `line`. */
static size_t write_request(const char *line, size_t len)
{
	static const char end[] = "\r\n\r\n";
	size_t from = stream_write_marked(&conn.stream, line);

	stream_write(&conn.stream, "X: ", 3);
	while (conn.stream.len - from + strlen(end) < len)
		stream_write(&conn.stream, &"abcdefg"[conn.stream.len % 7], 1);
	stream_write(&conn.stream, end, strlen(end));
	return from;
}

static size_t send_request(const char *line, size_t len)
{
	size_t from = write_request(line, len);

	conn_transmit(&conn, from, conn.stream.len);
	return from;
}

static void expect_split(uint64_t requests, uint64_t leads)
{
	expect_counts(rig, {REASON_INJECTED, requests}, {REASON_SPLIT, 1}, {REASON_LEAD, leads});
	wire_expect_silence(wire);
}

static void a_request_that_fills_its_packet(void **state)
{
	(void)state;
	open_conn(&ordinary);
	send_request("GET / HTTP/1.1\r\n^", ROOM);
	expect_split(1, 1);
	conn_ack_all(&conn);
	conn_send(&conn, GET);
}

/* As little as possible moves: the header comes before all other fields. */
static void a_request_with_many_fields(void **state)
{
	char line[ROOM];
	size_t len;

	(void)state;
	open_conn(&ordinary);
	len = sprintf(line, "GET / HTTP/1.1\r\n^Host: a\r\n");
	for (int i = 0; i < 20; i++)
		len += sprintf(line + len, "Field-%d: %040d\r\n", i, i);
	send_request(line, ROOM);
	expect_split(1, 1);
	conn_transmit(&conn, 0, conn.stream.len);
	conn_ack_all(&conn);
}

/* As soon as one byte is missing, there is a lead; else the packet grows. */
static void only_where_there_is_no_room(void **state)
{
	(void)state;
	for (int missing = -3; missing <= 3; missing++) {
		struct segment s;

		open_conn(&ordinary);
		if (missing > 0) {
			send_request("GET / HTTP/1.1\r\n^", ROOM - LINE_LEN + missing);
			expect_split(1, 1);
			continue;
		}
		write_request("GET / HTTP/1.1\r\n", ROOM - LINE_LEN + missing);
		stream_expect_edit(&conn.stream, conn.stream.len - 2);
		s = conn_segment(&conn, 0, conn.stream.len);
		conn_transmit_as(&conn, &s);
		expect_counts(rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
	}
}

/* Every length of the request line: the bytes behind it move to an odd place or an even one. */
static void after_a_line_of_any_length(void **state)
{
	(void)state;
	for (size_t target = 1; target < 100; target++) {
		char line[200];

		memset(line, 'x', sizeof(line));
		memcpy(line, "GET /", 5);
		strcpy(line + 4 + target, " HTTP/1.1\r\n^");
		open_conn(&ordinary);
		send_request(line, ROOM - target % 7);
		expect_split(1, 1);
	}
}

/* The longest line there is room for: the header stands where the packet nearly ends. */
static void after_a_line_that_fills_the_packet(void **state)
{
	char line[ROOM + 2];

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line, "GET /", 5);
	strcpy(line + ROOM - 12 - 3 - 5, " HTTP/1.1\r\n^");
	open_conn(&ordinary);
	send_request(line, ROOM);
	expect_split(1, 1);
	conn_transmit(&conn, 0, conn.stream.len);
	conn_transmit(&conn, 0, 400);
	conn_transmit(&conn, 400, conn.stream.len);
}

static void in_every_kind_of_packet(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;

		o.shape = shapes[i];
		if (o.shape.ip_device)
			continue; /* the link has an Ethernet header */
		print_message("\t%s\n", o.shape.name);
		open_conn(&o);
		send_request("GET /odd HTTP/1.1\r\n^", 1460 - o.shape.options);
		expect_split(1, 1);
		conn_transmit(&conn, 0, conn.stream.len);
		conn_ack_all(&conn);
		send_request("POST / HTTP/1.1\r\n^", 1460 - o.shape.options - 1);
	}
}

static void across_the_end_of_the_number_space(void **state)
{
	(void)state;
	for (uint32_t before = 0; before < 1600; before += 23) {
		struct opening o = ordinary;

		o.isn = 0u - before;
		open_conn(&o);
		send_request("GET / HTTP/1.1\r\n^", ROOM);
		conn_transmit(&conn, 0, conn.stream.len);
		conn_ack_all(&conn);
	}
}

static void a_body_behind_the_head(void **state)
{
	static const uint8_t body[3000] = {1, 2, 3};
	size_t from;

	(void)state;
	open_conn(&ordinary);
	stream_write_marked(&conn.stream, "POST / HTTP/1.1\r\n^Content-Length: 3000\r\n\r\n");
	stream_write(&conn.stream, body, sizeof(body));
	for (from = 0; from < conn.stream.len; from += ROOM) {
		size_t to = from + ROOM;

		conn_transmit(&conn, from, to < conn.stream.len ? to : conn.stream.len);
	}
	assert_int_equal(rig_count(rig, REASON_SPLIT), 1);
	conn_ack_all(&conn);
}

/* The first ones fit, the last one does not: then one lead takes them all. */
static void several_requests_in_one_packet(void **state)
{
	size_t from;

	(void)state;
	open_conn(&ordinary);
	from = stream_write_marked(&conn.stream, GET GET);
	write_request("GET / HTTP/1.1\r\n", ROOM - 3 * LINE_LEN - 3 * GET_LEN);
	stream_expect_edit(&conn.stream, conn.stream.len - 2);
	stream_write_marked(&conn.stream, "GET / HTTP/1.1\r\n^Host: a\r\n\r\n");
	conn_transmit(&conn, from, conn.stream.len);
	expect_split(4, 1);
	conn_transmit(&conn, from, conn.stream.len);
	conn_transmit(&conn, from + 30, conn.stream.len);
}

/* The end of a head that began in another packet: its request line has left already. */
static void the_end_of_a_long_head(void **state)
{
	(void)state;
	open_conn(&ordinary);
	write_request("GET / HTTP/1.1\r\nX: y\r\nLong: ", ROOM + ROOM);
	/* The second packet has no whole line but the blank one. */
	stream_expect_edit(&conn.stream, conn.stream.len - 2);
	conn_transmit(&conn, 0, ROOM);
	conn_transmit(&conn, ROOM, conn.stream.len);
	expect_split(1, 1);
}

static void sent_again(void **state)
{
	(void)state;
	open_conn(&ordinary);
	send_request("GET / HTTP/1.1\r\n^", ROOM);
	rig_forget_counts(rig);
	for (int i = 0; i < 3; i++) {
		conn_transmit(&conn, 0, ROOM);
		expect_counts(rig, {REASON_RESENT, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 1});
	}
	/* Small enough for any path. */
	conn_transmit(&conn, 0, SAFE - LINE_LEN);
	expect_counts(rig, {REASON_RESENT, 1}, {REASON_GROWN, 1});
	conn_transmit(&conn, 0, SAFE - LINE_LEN + 1);
	expect_counts(rig, {REASON_RESENT, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 1});
	/* Only the rest. */
	conn_transmit(&conn, 16, ROOM);
	conn_transmit(&conn, 17, ROOM);
	conn_transmit(&conn, 5, 16);
}

/* What was grown the first time may be split when it is sent again, and the other way round. */
static void merged_with_what_follows(void **state)
{
	size_t more;

	(void)state;
	open_conn(&ordinary);
	conn_send(&conn, GET);
	more = send_request("GET / HTTP/1.1\r\n^", ROOM);
	rig_forget_counts(rig);
	conn_transmit(&conn, 0, ROOM);
	expect_counts(rig, {REASON_RESENT, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 1});
	conn_transmit(&conn, more - 1, more + 100);
	expect_counts(rig, {REASON_RESENT, 1}, {REASON_GROWN, 1});
}

/* More edits than one lead takes: leads are no longer than the packet, or 448 bytes. */
static void sixteen_edits_in_several_leads(void **state)
{
	(void)state;
	open_conn(&ordinary);
	for (int i = 0; i < EDITS_MAX; i++)
		conn_send(&conn, GET);
	rig_forget_counts(rig);
	conn_transmit(&conn, 0, conn.stream.len);
	expect_counts(rig, {REASON_RESENT, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 3});
	conn_transmit(&conn, 26, conn.stream.len - 1);
	conn_ack(&conn, 700);
	conn_transmit(&conn, stream_to_app(&conn.stream, 700), conn.stream.len);
	conn_ack_all(&conn);
}

/*
 * The end of the stream and the push stay with the last packet. What is said of congestion stands
 * in all: with AccECN these flags are a number.
 */
static void the_lead_has_no_fin(void **state)
{
	struct segment s;

	(void)state;
	open_conn(&ordinary);
	write_request("GET / HTTP/1.1\r\n^", ROOM);
	s = conn_segment(&conn, 0, ROOM);
	s.flags |= FIN | ECE | CWR;
	s.accurate = true;
	conn_transmit_as(&conn, &s);
	conn_transmit_as(&conn, &s);
	expect_counts(rig, {REASON_INJECTED, 1}, {REASON_RESENT, 1}, {REASON_SPLIT, 2},
		      {REASON_LEAD, 2});
}

/*
 * Urgent data behind a request that is sent again. The pointer counts from the number of the
 * packet: behind a lead it stays right, in a longer packet it would not.
 */
static void urgent_data_behind_an_edit(void **state)
{
	struct segment s;

	(void)state;
	open_conn(&ordinary);
	conn_send(&conn, GET);
	rig_forget_counts(rig);
	stream_write_marked(&conn.stream, "!");
	s = conn_segment(&conn, 0, conn.stream.len);
	s.flags |= URG;
	s.urgent = conn.stream.len;
	conn_transmit_as(&conn, &s);
	expect_counts(rig, {REASON_URGENT, 1}, {REASON_RESENT, 1}, {REASON_SPLIT, 1},
		      {REASON_LEAD, 1});
}

static void the_device_carries_less_than_the_peer_takes(void **state)
{
	(void)state;
	open_conn(&ordinary);
	wire_set_mtu(wire, 1000);
	send_request("GET / HTTP/1.1\r\n^", 1000 - 40 - 12 - LINE_LEN + 1);
	expect_split(1, 1);
	wire_set_mtu(wire, 1500);
}

static void the_peer_takes_less_than_the_device_carries(void **state)
{
	struct opening o = ordinary;

	(void)state;
	o.mss = 536;
	open_conn(&o);
	send_request("GET / HTTP/1.1\r\n^", 536 - 12 - LINE_LEN + 1);
	expect_split(1, 1);
}

/* Nobody takes the lead: the request goes as it is, and nothing is lost. */
static void a_lead_that_is_refused(void **state)
{
	(void)state;
	open_conn(&ordinary);
	conn_send(&conn, GET);
	conn.meeting.ifindex = 0; /* loopback: there is no program on it */
	rig_forget_counts(rig);
	send_request("GET / HTTP/1.1\r\n", ROOM);
	expect_counts(rig, {REASON_LEAD_REFUSED, 1}, {REASON_SEQ, 1});
	assert_int_equal(conn_in_flight(&conn), 1);
	conn.meeting.ifindex = wire->near;
	send_request("GET / HTTP/1.1\r\n^", ROOM);
	conn_transmit(&conn, 0, GET_LEN);
	conn_ack_all(&conn);
}

/* An edit that was sent must be sent again: without a lead the packet has to wait. */
static void a_lead_that_is_refused_to_a_retransmission(void **state)
{
	struct segment s;

	(void)state;
	open_conn(&ordinary);
	send_request("GET / HTTP/1.1\r\n^", ROOM);
	conn.meeting.ifindex = 0;
	rig_forget_counts(rig);
	s = conn_segment(&conn, 0, ROOM);
	conn_drop(&conn, &s);
	expect_counts(rig, {REASON_DROPPED, 1});
	conn.meeting.ifindex = wire->near;
	conn_transmit(&conn, 0, ROOM);
}

int test_split(void)
{
	const struct CMUnitTest split[] = {
	    cmocka_unit_test(a_request_that_fills_its_packet),
	    cmocka_unit_test(a_request_with_many_fields),
	    cmocka_unit_test(only_where_there_is_no_room),
	    cmocka_unit_test(after_a_line_of_any_length),
	    cmocka_unit_test(after_a_line_that_fills_the_packet),
	    cmocka_unit_test(in_every_kind_of_packet),
	    cmocka_unit_test(across_the_end_of_the_number_space),
	    cmocka_unit_test(a_body_behind_the_head),
	    cmocka_unit_test(several_requests_in_one_packet),
	    cmocka_unit_test(the_end_of_a_long_head),
	    cmocka_unit_test(sent_again),
	    cmocka_unit_test(merged_with_what_follows),
	    cmocka_unit_test(sixteen_edits_in_several_leads),
	    cmocka_unit_test(the_lead_has_no_fin),
	    cmocka_unit_test(urgent_data_behind_an_edit),
	    cmocka_unit_test(the_device_carries_less_than_the_peer_takes),
	    cmocka_unit_test(the_peer_takes_less_than_the_device_carries),
	    cmocka_unit_test(a_lead_that_is_refused),
	    cmocka_unit_test(a_lead_that_is_refused_to_a_retransmission),
	};

	return cmocka_run_group_tests(split, setup, link_teardown);
}
