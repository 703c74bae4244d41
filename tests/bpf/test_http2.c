// SPDX-License-Identifier: Apache-2.0
/*
 * Requests of HTTP/2: a field at the end of their header block, and the length of their frame,
 * which leave together, at the same wire numbers however often they are sent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "http/http2/state.h"
#include "topics.h"

#define PREFACE     "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define WHOLE       (HTTP2_END_STREAM | HTTP2_END_HEADERS)
#define PADDING     7
#define REQUEST_LEN (HTTP2_FRAME_HEADER + sizeof(block) + sizeof(field))
/* Such requests of one packet, of the MSS of the peer less timestamps; and if it shall have room
 * for a field each. */
#define PACKET_MAX ((1460 - 12) / REQUEST_LEN)
#define GROW_MAX   ((1460 - 12) / (REQUEST_LEN + FIELD_LEN))
#define FLOWS      1024

/* GET / of http://a: entries of the static table, and a literal that is put into the other one. */
static const uint8_t block[] = {0x82, 0x86, 0x84, 0x41, 0x01, 'a'};
/* x: y, a literal without indexing. */
static const uint8_t field[] = {0x00, 0x01, 'x', 0x01, 'y'};

static struct conn conn;
static struct wire *wire; /* NULL: this machine cannot have one */
static uint32_t last_stream;

static int setup(void **state)
{
	struct rig *rig = rig_open_with_http2(FLOWS);

	wire = wire_open(WIRE_LOCAL, rig_program(rig, HOOK_OUT, &ordinary.shape),
			 rig_program(rig, HOOK_IN, &ordinary.shape));
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	if (wire)
		wire_close(wire);
	rig_close(*state);
	return 0;
}

/* The app writes a frame's header. Returns its offset. */
static size_t write_header(size_t len, uint8_t type, uint8_t flags, uint32_t stream)
{
	uint8_t header[HTTP2_FRAME_HEADER] = {len >> 16, len >> 8, len, type, flags};

	put32(header + 5, stream);
	return stream_write(&conn.stream, header, sizeof(header));
}

/* The app writes a HEADERS frame on a new stream, and `more` bytes of a block. Returns its offset.
 */
static size_t write_headers(uint8_t flags, const uint8_t *more, size_t more_len)
{
	const size_t pad = flags & HTTP2_PADDED ? PADDING : 0, len = sizeof(block) + more_len;
	const uint8_t byte = pad, zeros[PADDING] = {};
	const size_t from = write_header(len + pad + !!pad, HTTP2_HEADERS, flags, last_stream += 2);

	stream_write(&conn.stream, &byte, !!pad);
	stream_write(&conn.stream, block, sizeof(block));
	stream_write(&conn.stream, more, more_len);
	stream_write(&conn.stream, zeros, pad);
	return from;
}

/* What was written from `from` on is a request that gets a field. */
static void expect_field(size_t from, uint8_t flags)
{
	const size_t pad = flags & HTTP2_PADDED ? PADDING : 0;

	stream_open(&conn.stream, from, from + 3);
	stream_expect_field(&conn.stream, conn.stream.len - pad - 1);
}

/* A request that gets a field. */
static size_t write_request(uint8_t flags)
{
	const size_t from = write_headers(flags, field, sizeof(field));

	expect_field(from, flags);
	return from;
}

/* Requests that get a field each, if they leave in one packet. */
static size_t write_requests(size_t count, uint8_t flags)
{
	const size_t from = conn.stream.len;

	for (size_t i = 0; i < count; i++)
		expect_field(write_headers(flags, field, sizeof(field)), flags);
	return from;
}

/* The length that the frame at `from` has, as it was written, or as it left. */
static size_t length_of(size_t from, bool left)
{
	size_t length = 0;

	for (size_t a = from; a < from + 3; a++)
		length =
		    length << 8 | (left ? stream_changed(&conn.stream, a) : conn.stream.byte[a]);
	return length;
}

#define expect_longer(from)                                                                        \
	assert_int_equal(length_of(from, true), length_of(from, false) + FIELD_LEN)

/* A connection that has sent the preface and its SETTINGS. */
static void open_with(struct rig *rig, const struct opening *o)
{
	conn_open(&conn, rig, o);
	last_stream = (uint32_t)-1;
	stream_write(&conn.stream, PREFACE, strlen(PREFACE));
	write_header(0, HTTP2_SETTINGS, 0, 0);
	conn_transmit(&conn, 0, conn.stream.len);
	conn_ack_all(&conn);
	rig_forget_counts(rig);
}

static void open_conn(struct rig *rig)
{
	open_with(rig, &ordinary);
}

/* A connection whose packets can be split: what goes ahead of them takes a real link. */
static void open_on_wire(struct rig *rig)
{
	if (!wire)
		skip();
	open_conn(rig);
	conn_use_wire(&conn, wire);
}

static void one_request_in_every_kind_of_packet(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;
		size_t from;

		o.shape = shapes[i];
		open_with(*state, &o);
		from = write_request(WHOLE);
		conn_transmit(&conn, from, conn.stream.len);
		expect_longer(from);
		expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
		conn_ack_all(&conn);
		assert_int_equal(conn_in_flight(&conn), 0);
		assert_int_equal(conn_base(&conn), FIELD_LEN);
	}
}

static void padding_stays_behind_the_field(void **state)
{
	static const uint8_t flags[] = {WHOLE | HTTP2_PADDED, HTTP2_END_HEADERS | HTTP2_PADDED};

	for (size_t i = 0; i < sizeof(flags); i++) {
		size_t from;

		open_conn(*state);
		from = write_request(flags[i]);
		conn_transmit(&conn, from, conn.stream.len);
		expect_longer(from);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
	}
}

/* As many as the packet can grow by. */
static void several_in_one_packet(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;
		size_t from;

		o.shape = shapes[i];
		open_with(*state, &o);
		from = write_requests(GROW_MAX, WHOLE);
		conn_transmit(&conn, from, conn.stream.len);
		expect_counts(*state, {REASON_INJECTED, GROW_MAX}, {REASON_GROWN, 1});
		conn_ack_all(&conn);
		assert_int_equal(conn_base(&conn), GROW_MAX * FIELD_LEN);
	}
}

/* The fields do not fit into the packet, and its first bytes go ahead. */
static void many_in_one_packet(void **state)
{
	size_t from, end;

	open_on_wire(*state);
	from = write_requests(PACKET_MAX, WHOLE);
	end = conn.stream.len;
	conn_transmit(&conn, from, end);
	assert_int_equal(rig_count(*state, REASON_INJECTED), PACKET_MAX);
	assert_int_equal(rig_count(*state, REASON_SPLIT), 1);
	for (size_t cut = from; cut < end; cut += 97)
		conn_transmit(&conn, cut, end);
	conn_ack_all(&conn);
	assert_int_equal(conn_base(&conn), PACKET_MAX * FIELD_LEN);
}

/* As many packets with requests, and as many requests, as a flow has in flight. */
static void many_in_flight(void **state)
{
	static const size_t each[] = {1, 40};

	for (size_t i = 0; i < sizeof(each) / sizeof(each[0]); i++) {
		size_t left = each[i] == 1 ? EDITS_MAX : FIELDS_MAX, from;

		open_on_wire(*state);
		for (size_t n; left; left -= n) {
			n = left < each[i] ? left : each[i];
			from = write_requests(n, WHOLE);
			conn_transmit(&conn, from, conn.stream.len);
		}
		from = write_headers(WHOLE, field, sizeof(field));
		conn_transmit(&conn, from, conn.stream.len);
		assert_int_equal(rig_count(*state, REASON_EDITS_FULL), 1);
		conn_ack_all(&conn);
		assert_int_equal(conn_in_flight(&conn), 0);
		from = write_request(WHOLE);
		conn_transmit(&conn, from, conn.stream.len);
		expect_longer(from);
	}
}

/* The app writes a DATA frame. */
static void write_data(size_t len)
{
	write_header(len, HTTP2_DATA, 0, last_stream);
	while (len--)
		stream_write(&conn.stream, &"0123456789a"[len % 11], 1);
}

/* The one field of a large packet lies deep: behind a body, or behind a large field. */
static void deep_in_a_large_packet(void **state)
{
	static uint8_t large[6000] = {
	    0x00, 0x01, 'x', 0x7f, 0x80 | ((5994 - 0x7f) & 0x7f), (5994 - 0x7f) >> 7};
	static const size_t bodies[] = {0, 10, 5000, 20000};

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		size_t from, head;

		open_on_wire(*state);
		conn_go_by_wire(&conn, wire, true, 1408);
		from = write_request(HTTP2_END_HEADERS);
		conn_transmit(&conn, from, conn.stream.len);
		conn_ack_all(&conn);
		rig_forget_counts(*state);
		from = conn.stream.len;
		if (bodies[i])
			write_data(bodies[i]);
		head = write_headers(WHOLE, large, sizeof(large));
		expect_field(head, WHOLE);
		conn_transmit(&conn, from, conn.stream.len);
		expect_counts(*state, {REASON_INJECTED, 1}, {REASON_SPLIT, 1}, {REASON_LEAD, 1});
		expect_longer(head);
		conn_transmit(&conn, head + 1, conn.stream.len);
		conn_transmit(&conn, head + 20, conn.stream.len);
		conn_transmit(&conn, from, head + 2);
		conn_transmit(&conn, from, conn.stream.len);
		conn_ack_all(&conn);
		assert_int_equal(conn_in_flight(&conn), 0);
	}
}

/* However it is cut and merged when it comes again. */
static void sent_again(void **state)
{
	size_t from, next, end;

	open_conn(*state);
	from = write_requests(3, WHOLE | HTTP2_PADDED);
	conn_transmit(&conn, from, conn.stream.len);
	next = write_requests(2, WHOLE);
	end = conn.stream.len;
	conn_transmit(&conn, next, end);
	rig_forget_counts(*state);
	conn_transmit(&conn, from, end);
	for (size_t cut = from + 1; cut < end; cut++) {
		conn_transmit(&conn, from, cut);
		conn_transmit(&conn, cut, end);
	}
	for (size_t i = end; i > from; i--)
		conn_transmit(&conn, i - 1, i);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
}

/* The next byte of the wire that the peer expects is the `ack`-th of a packet with `count`
 * requests; then all of it comes again. Returns whether there is such a byte. */
static bool acknowledge(struct rig *rig, size_t count, size_t ack)
{
	size_t from, begin;

	open_conn(rig);
	from = write_requests(count, WHOLE);
	conn_transmit(&conn, from, conn.stream.len);
	begin = stream_to_wire(&conn.stream, from) + ack;
	if (begin > stream_to_wire(&conn.stream, conn.stream.len))
		return false;
	conn_ack(&conn, begin);
	for (size_t a = stream_to_app(&conn.stream, begin); a < conn.stream.len; a++)
		conn_transmit(&conn, a, conn.stream.len);
	conn_ack_all(&conn);
	assert_int_equal(conn_in_flight(&conn), 0);
	return true;
}

static void acknowledged_in_part(void **state)
{
	for (size_t count = 1; count <= 3; count++) {
		for (size_t ack = 0; acknowledge(*state, count, ack); ack++)
			;
	}
}

/* The peer has a part of what three packets had, and no cumulative acknowledgement. */
static void received_in_part(void **state)
{
	size_t from, begin, end;

	open_conn(*state);
	for (int i = 0; i < 3; i++) {
		from = write_requests(2, WHOLE);
		conn_transmit(&conn, from, conn.stream.len);
	}
	from = strlen(PREFACE) + HTTP2_FRAME_HEADER;
	begin = stream_to_wire(&conn.stream, from);
	end = stream_to_wire(&conn.stream, conn.stream.len);
	for (size_t left = begin + 1; left < end; left += 3) {
		for (size_t right = left + 1; right <= end; right += 7)
			conn_receive(&conn, &(struct incoming){
						.ack = begin, .sacks = 1, .sack = {{left, right}}});
	}
	conn_ack_all(&conn);
}

/* The length of its frame has left, or is not at hand: it stays as it is, and the next one does
 * not. */
static void cut_by_packets(void **state)
{
	for (size_t cut = 1; cut < HTTP2_FRAME_HEADER + sizeof(block) + sizeof(field); cut++) {
		size_t from, next;

		open_conn(*state);
		from = write_headers(WHOLE, field, sizeof(field));
		conn_transmit(&conn, from, from + cut);
		conn_transmit(&conn, from + cut, conn.stream.len);
		expect_counts(*state, {REASON_H2_CUT, 1});
		next = write_request(WHOLE);
		conn_transmit(&conn, next, conn.stream.len);
		expect_longer(next);
	}
}

/* A packet has bytes that have left together with what is new, as TCP merges them. */
static void merged_with_what_has_left(void **state)
{
	for (size_t cut = 1; cut < HTTP2_FRAME_HEADER + sizeof(block) + sizeof(field); cut++) {
		size_t from, next;

		open_conn(*state);
		from = write_headers(WHOLE, field, sizeof(field));
		conn_transmit(&conn, from, from + cut);
		next = write_request(WHOLE);
		conn_transmit(&conn, from, conn.stream.len);
		expect_longer(next);
		assert_int_equal(rig_count(*state, REASON_H2_CUT), 1);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
	}
}

/* A packet begins within what has left, and the whole of a new request follows. */
static void merged_behind_what_has_left(void **state)
{
	size_t from, next;

	open_conn(*state);
	from = write_request(WHOLE);
	conn_transmit(&conn, from, conn.stream.len);
	next = write_request(WHOLE);
	conn_transmit(&conn, from + 4, conn.stream.len);
	expect_longer(from);
	expect_longer(next);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
}

/* What is left alone, and why. */
static void not_eligible(void **state)
{
	/* traceparent and tracestate, as literals without indexing; the first one of no value. */
	static const uint8_t parent[] = "\0\x0btraceparent\0",
			     tracestate[] = "\0\x0atracestate\x01v";
	/* The youngest entry of the dynamic table but 20, which there is none of. */
	static const uint8_t beyond[] = {0x80 | (HTTP2_STATIC_MAX + 1 + 20)};
	static const struct {
		uint8_t flags;
		const uint8_t *more;
		size_t len;
		enum ctxprop_reason reason;
	} cases[] = {
	    {WHOLE, parent, sizeof(parent) - 1, REASON_PRESENT},
	    {WHOLE, tracestate, sizeof(tracestate) - 1, REASON_STATE_ALONE},
	    {WHOLE, beyond, sizeof(beyond), REASON_H2_TABLE},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t from;

		open_conn(*state);
		from = write_headers(cases[i].flags, cases[i].more, cases[i].len);
		conn_transmit(&conn, from, conn.stream.len);
		expect_counts(*state, {cases[i].reason, 1});
		from = write_request(WHOLE);
		conn_transmit(&conn, from, conn.stream.len);
		expect_longer(from);
	}
}

static void goes_on_in_another_frame(void **state)
{
	size_t from;

	open_conn(*state);
	from = write_headers(HTTP2_END_STREAM, NULL, 0);
	write_header(sizeof(field), HTTP2_CONTINUATION, HTTP2_END_HEADERS, last_stream);
	stream_write(&conn.stream, field, sizeof(field));
	conn_transmit(&conn, from, conn.stream.len);
	expect_counts(*state, {REASON_H2_CONTINUATION, 1});
}

/* A request with a body, in packets of which one is not seen. */
static void a_gap_in_data(void **state)
{
	size_t from, data, next;

	open_conn(*state);
	from = write_request(HTTP2_END_HEADERS);
	conn_transmit(&conn, from, conn.stream.len);
	data = write_header(100, HTTP2_DATA, HTTP2_END_STREAM, last_stream);
	for (int i = 0; i < 100; i++)
		stream_write(&conn.stream, "d", 1);
	next = write_request(WHOLE);
	conn_transmit(&conn, data, data + 20);
	conn_transmit(&conn, data + 60, conn.stream.len);
	expect_longer(next);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 2);
	conn_transmit(&conn, data + 20, data + 60);
}

/* Frames that are not seen leave the tables unknown: nothing is added any more. */
static void a_gap_in_frames(void **state)
{
	size_t from, next;

	open_conn(*state);
	from = write_request(WHOLE);
	conn_transmit(&conn, from, conn.stream.len);
	write_headers(WHOLE, field, sizeof(field));
	next = write_headers(WHOLE, field, sizeof(field));
	rig_forget_counts(*state);
	conn_transmit(&conn, next, conn.stream.len);
	assert_int_equal(rig_count(*state, REASON_LOST), 1);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
	conn_ack_all(&conn);
	next = write_headers(WHOLE, field, sizeof(field));
	conn_transmit(&conn, next, conn.stream.len);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
}

static void frames_that_cannot_be(void **state)
{
	static const struct {
		uint8_t type;
		uint32_t stream;
		size_t len;
	} cases[] = {
	    {HTTP2_PUSH_PROMISE, 1, 4}, {HTTP2_CONTINUATION, 1, 4}, {HTTP2_RST_STREAM, 1, 5},
	    {HTTP2_SETTINGS, 0, 5},     {HTTP2_HEADERS, 0, 4},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t from;

		open_conn(*state);
		from =
		    write_header(cases[i].len, cases[i].type, HTTP2_END_HEADERS, cases[i].stream);
		stream_write(&conn.stream, "\x82\x86\x84\x82\x82", cases[i].len);
		write_headers(WHOLE, field, sizeof(field));
		conn_transmit(&conn, from, conn.stream.len);
		assert_int_equal(rig_count(*state, REASON_H2_MALFORMED), 1);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
	}
}

/* The peer says in its SETTINGS that it takes only so many bytes of fields. */
static void a_peer_with_a_limit(void **state)
{
	static const char settings[] = {0, 0, 6, HTTP2_SETTINGS, 0, 0, 0, 0, 0, 0, 6, 0, 0, 1, 1};
	uint8_t options[40];
	struct segment s;
	size_t from;

	open_conn(*state);
	s = conn_incoming(&conn, &(struct incoming){.ack = conn.stream.len, .data = "x"}, options);
	s.payload = (const uint8_t *)settings;
	s.payload_len = sizeof(settings);
	conn_stray(&conn, &s);
	conn.peer_next += sizeof(settings);
	rig_forget_counts(*state);
	from = write_headers(WHOLE, field, sizeof(field));
	conn_transmit(&conn, from, conn.stream.len);
	expect_counts(*state, {REASON_H2_LIMIT, 1});
}

/* Many requests on one connection, over the end of the sequence numbers. */
static void around_the_end_of_numbers(void **state)
{
	struct opening o = ordinary;

	o.isn = 0xfffffc00;
	open_with(*state, &o);
	for (size_t i = 0; i < STREAM_EDITS_MAX; i++) {
		const size_t from = write_request(WHOLE);

		conn_transmit(&conn, from, conn.stream.len);
		expect_longer(from);
		if (i % 3 == 2)
			conn_ack_all(&conn);
	}
	conn_ack_all(&conn);
	assert_int_equal(conn_base(&conn), STREAM_EDITS_MAX * FIELD_LEN);
	assert_int_equal(rig_count(*state, REASON_INJECTED), STREAM_EDITS_MAX);
}

/* Requests of HTTP/1 go on as before, also on the CPU that has just seen those of HTTP/2. */
static void beside_http1(void **state)
{
	static struct conn plain;

	open_conn(*state);
	conn_open(&plain, *state, &ordinary);
	for (int i = 0; i < 3; i++) {
		const size_t from = write_requests(3, WHOLE);
		size_t begin;

		conn_transmit(&conn, from, conn.stream.len);
		begin = conn_send(&plain, "GET / HTTP/1.1\r\nHost: a\r\n^\r\n");
		for (size_t cut = begin + 1; cut < plain.stream.len; cut++)
			conn_transmit(&plain, cut, plain.stream.len);
		conn_answer(&plain, "HTTP/1.1 204 No Content\r\n\r\n");
		assert_int_equal(conn_in_flight(&plain), 0);
	}
}

/* A connection that was open before is never changed: its table is not known. */
static void met_in_the_middle(void **state)
{
	size_t from;

	conn_meet(&conn, *state, &ordinary);
	last_stream = (uint32_t)-1;
	from = stream_write(&conn.stream, PREFACE, strlen(PREFACE));
	write_header(0, HTTP2_SETTINGS, 0, 0);
	write_headers(WHOLE, field, sizeof(field));
	conn_transmit(&conn, from, conn.stream.len);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);
}

int test_http2(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(one_request_in_every_kind_of_packet),
	    cmocka_unit_test(padding_stays_behind_the_field),
	    cmocka_unit_test(several_in_one_packet),
	    cmocka_unit_test(many_in_one_packet),
	    cmocka_unit_test(many_in_flight),
	    cmocka_unit_test(deep_in_a_large_packet),
	    cmocka_unit_test(sent_again),
	    cmocka_unit_test(acknowledged_in_part),
	    cmocka_unit_test(received_in_part),
	    cmocka_unit_test(cut_by_packets),
	    cmocka_unit_test(merged_with_what_has_left),
	    cmocka_unit_test(merged_behind_what_has_left),
	    cmocka_unit_test(not_eligible),
	    cmocka_unit_test(goes_on_in_another_frame),
	    cmocka_unit_test(a_gap_in_data),
	    cmocka_unit_test(a_gap_in_frames),
	    cmocka_unit_test(frames_that_cannot_be),
	    cmocka_unit_test(a_peer_with_a_limit),
	    cmocka_unit_test(around_the_end_of_numbers),
	    cmocka_unit_test(beside_http1),
	    cmocka_unit_test(met_in_the_middle),
	};

	return cmocka_run_group_tests_name("http2", tests, setup, teardown);
}
