// SPDX-License-Identifier: Apache-2.0
/*
 * Requests that belong to an incoming one, sent by a real socket: the trace of their cause, and
 * its tracestate, which makes headers of any length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cause.h"
#include "ending.h"
#include "link.h"
#include "topics.h"

#define GET     "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_LEN 27
#define ANSWER  "HTTP/1.1 204 No Content\r\n\r\n"
#define ROOM    (1460 - 12)

static struct conn conn;
static char value[600];

/* A tracestate of `len` characters; of more than one member, if one cannot be so long. */
static const char *state_of(size_t len)
{
	for (size_t i = 0; i < len; i++)
		value[i] = "abcdefgh"[i % 8];
	value[1] = '=';
	if (len > 200) {
		value[200] = ',';
		value[202] = '=';
	}
	if (len > 400) {
		value[400] = ',';
		value[402] = '=';
	}
	value[len] = 0;
	return value;
}

/* Length of the line of a tracestate of `len` characters. */
static size_t line_of(size_t len)
{
	return (12 + len + 3) & ~(size_t)1;
}

static void open_as(const struct link *link, const struct opening *o, bool partial,
		    uint16_t segment_size)
{
	link_open(&conn, link, o);
	conn_go_by_wire(&conn, link->wire, partial, segment_size);
}

static void open_conn(void **state)
{
	open_as(*state, &ordinary, false, 0);
}

/* What the app writes next belongs to request `number`. */
static void because_of(uint32_t number, const char *tracestate)
{
	uint32_t seq = conn.stream.first + conn.stream.len;

	conn.stream.state_len = cause_say(&conn, seq, number, tracestate);
}

static void expect_child(size_t edit, uint32_t number, const char *tracestate)
{
	const struct stream_edit *e = &conn.stream.edit[edit];
	char line[700];
	int len = snprintf(line, sizeof(line), CAUSE_TRACE "%08x", number);

	assert_true(e->known);
	assert_memory_equal(e->text + strlen("traceparent: 00-"), line, len);
	assert_int_equal(e->len, LINE_LEN + (tracestate ? line_of(strlen(tracestate)) : 0));
	if (!tracestate)
		return;
	len = snprintf(line, sizeof(line), "tracestate: %s%s\r\n",
		       strlen(tracestate) & 1 ? " " : "", tracestate);
	assert_int_equal(len, e->len - LINE_LEN);
	assert_memory_equal(e->text + LINE_LEN, line, len);
}

static void expect_root(size_t edit)
{
	const struct stream_edit *e = &conn.stream.edit[edit];

	assert_true(e->known);
	assert_int_equal(e->len, LINE_LEN);
	assert_memory_not_equal(e->text + strlen("traceparent: 00-"), CAUSE_TRACE,
				strlen(CAUSE_TRACE));
}

static void the_trace_of_its_cause(void **state)
{
	open_conn(state);
	for (uint32_t i = 1; i < 10; i++) {
		because_of(i, NULL);
		conn_send(&conn, GET);
		expect_child(i - 1, i, NULL);
		expect_counts(conn.rig, {REASON_INJECTED, 1}, {REASON_GROWN, 1},
			      {REASON_EVIDENCE_THREAD, 1});
		conn_answer(&conn, ANSWER);
		rig_forget_counts(conn.rig);
	}
}

/* Its own traceparent is left alone; what was believed of the call counts no more if it differs. */
static void a_traceparent_of_its_own(void **state)
{
	static const char head[] =
	    "GET / HTTP/1.1\r\nTraceparent: 00-%s-b7ad6b7169203331-01\r\n\r\n";
	char request[200];

	open_conn(state);
	snprintf(request, sizeof(request), head, CAUSE_TRACE "00000001");
	for (uint32_t i = 1; i < 4; i++) {
		because_of(i, NULL);
		conn_send(&conn, request);
		assert_int_equal(rig_count(conn.rig, REASON_PRESENT), 1);
		assert_int_equal(rig_count(conn.rig, REASON_EVIDENCE_OWN), 1);
		assert_int_equal(rig_count(conn.rig, REASON_VETO_DISAGREE), i > 1);
		conn_answer(&conn, ANSWER);
		rig_forget_counts(conn.rig);
	}
}

/* Only what begins with the byte that the call began with belongs to its cause. */
static void nothing_but_the_call_itself(void **state)
{
	open_conn(state);
	because_of(1, "a=1");
	conn.stream.state_len = line_of(3);
	stream_write_marked(&conn.stream, GET);
	conn.stream.state_len = 0;
	stream_write_marked(&conn.stream, GET);
	conn_transmit(&conn, 0, conn.stream.len);
	expect_child(0, 1, "a=1");
	expect_root(1);
	conn_answer(&conn, ANSWER);
	conn_send(&conn, GET);
	expect_root(2);
}

/* Every length there is, in every kind of packet. */
static void a_tracestate_of_any_length(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;

		o.shape = shapes[i];
		if (!link_carries(*state, &o.shape))
			continue;
		open_as(*state, &o, i & 1, 0);
		for (size_t len = 3; len <= 512; len += len < 20 || len > 500 ? 1 : 37) {
			size_t edits = conn.stream.edits;

			if (edits == STREAM_EDITS_MAX)
				break;
			because_of(len, state_of(len));
			conn_send(&conn, GET);
			expect_child(edits, len, state_of(len));
			conn_answer(&conn, ANSWER);
			assert_int_equal(cause_kept(&conn), 0);
		}
	}
}

/* However TCP cuts the request when it sends it again, the same bytes come in the same place. */
static void sent_again_in_any_pieces(void **state)
{
	for (size_t len = 3; len < 130; len += 31) {
		open_conn(state);
		because_of(1, state_of(len));
		conn_send(&conn, GET);
		for (size_t from = 0; from < GET_LEN; from++)
			for (size_t to = from + 1; to <= GET_LEN; to += 5)
				conn_transmit(&conn, from, to);
		assert_int_equal(cause_kept(&conn), 1);
		conn_ack_all(&conn);
		assert_int_equal(cause_kept(&conn), 0);
	}
}

/* The peer acknowledges every byte of it, one by one: what it says is translated. */
static void acknowledged_byte_by_byte(void **state)
{
	size_t end;

	open_conn(state);
	because_of(1, state_of(60));
	conn_send(&conn, GET);
	end = stream_to_wire(&conn.stream, conn.stream.len);
	assert_int_equal(end, GET_LEN + LINE_LEN + line_of(60));
	for (size_t ack = 0; ack <= end; ack++) {
		conn_receive(&conn,
			     &(struct incoming){.ack = ack, .sacks = 1, .sack = {{ack, end}}});
		assert_int_equal(cause_kept(&conn), ack < end - 1);
	}
	because_of(2, state_of(61));
	conn_send(&conn, GET);
	expect_child(1, 2, state_of(61));
	conn_ack_all(&conn);
}

/* Several in flight, each with its own; and one packet that carries them all. */
static void several_in_flight(void **state)
{
	static const size_t lens[] = {3, 120, 51, 260, 8};

	open_conn(state);
	for (uint32_t i = 0; i < 5; i++) {
		because_of(i + 1, state_of(lens[i]));
		conn_send(&conn, GET);
		expect_child(i, i + 1, state_of(lens[i]));
	}
	assert_int_equal(cause_kept(&conn), 5);
	conn_transmit(&conn, 0, conn.stream.len);
	conn_transmit(&conn, 30, conn.stream.len);
	conn_ack(&conn, stream_to_wire(&conn.stream, 3 * GET_LEN));
	assert_int_equal(cause_kept(&conn), 2);
	conn_transmit(&conn, 3 * GET_LEN, conn.stream.len);
	conn_ack_all(&conn);
	assert_int_equal(cause_kept(&conn), 0);
}

/* No more than one packet can carry: the trace goes along, the tracestate does not. */
static void too_many_in_flight(void **state)
{
	uint32_t with = 0;

	open_conn(state);
	for (uint32_t i = 1; i <= EDITS_MAX; i++) {
		size_t in_flight = 0;

		for (size_t e = 0; e < conn.stream.edits; e++)
			in_flight += conn.stream.edit[e].len;
		because_of(i, state_of(200));
		if (in_flight + line_of(200) + (EDITS_MAX - i + 1) * LINE_LEN > EDITS_BYTES_MAX)
			conn.stream.state_len = 0;
		with += conn.stream.state_len != 0;
		conn_send(&conn, GET);
		expect_child(i - 1, i, conn.stream.state_len ? state_of(200) : NULL);
	}
	assert_in_range(with, 2, EDITS_MAX - 2);
	assert_int_equal(cause_kept(&conn), with);
	conn_transmit(&conn, 0, conn.stream.len);
	conn_ack_all(&conn);
	assert_int_equal(cause_kept(&conn), 0);
}

/* A request that fills its packet, or many: what is too much goes ahead, in several leads. */
static void packets_without_room(void **state)
{
	for (size_t len = 3; len <= 512; len += 101) {
		for (size_t size = ROOM - 3; size < 20000; size += 6007) {
			size_t from;

			open_as(*state, &ordinary, true, 1400);
			because_of(len, state_of(len));
			from = stream_write_marked(&conn.stream, "GET / HTTP/1.1\r\n^X: ");
			while (conn.stream.len - from + 4 < size)
				stream_write(&conn.stream, &"abcdefg"[conn.stream.len % 7], 1);
			stream_write(&conn.stream, "\r\n\r\n", 4);
			conn_transmit(&conn, from, conn.stream.len);
			expect_child(0, len, state_of(len));
			assert_int_equal(rig_count(conn.rig, REASON_SPLIT), 1);
			conn_transmit(&conn, from + 5, from + 300);
			conn_ack_all(&conn);
			assert_int_equal(cause_kept(&conn), 0);
		}
	}
}

static void not_without_room_at_the_peer(void **state)
{
	open_conn(state);
	conn_receive(&conn, &(struct incoming){.window = 2}); /* 256 bytes */
	because_of(1, state_of(300));
	conn.stream.state_len = 0;
	conn_send(&conn, GET);
	expect_child(0, 1, NULL);
}

/* Without its tracestate a cause is still a cause. */
static void a_request_that_is_over(void **state)
{
	open_conn(state);
	because_of(1, "a=1");
	cause_end(&conn, 1);
	conn.stream.state_len = 0;
	conn_send(&conn, GET);
	expect_child(0, 1, NULL);
}

static void a_connection_that_is_reset(void **state)
{
	struct segment rst;

	open_conn(state);
	because_of(1, "a=1");
	conn_send(&conn, GET);
	assert_int_equal(cause_kept(&conn), 1);
	rst = conn_segment(&conn, GET_LEN, GET_LEN);
	rst.flags = RST | ACK;
	conn_transmit_as(&conn, &rst);
	conn_expect_reset(&conn);
	conn_ack_all(&conn);
	assert_int_equal(cause_kept(&conn), 0);

	open_conn(state);
	because_of(1, "a=1");
	conn_send(&conn, GET);
	conn_receive(&conn, &(struct incoming){.more = RST});
	conn_expect_reset(&conn);
	conn_ack_all(&conn);
	assert_int_equal(cause_kept(&conn), 0);
}

/* A request that is sent before the last one is answered: both wait on one connection. */
static void pipelined(void **state)
{
	open_conn(state);
	cause_forget(&conn);
	because_of(1, NULL);
	conn_send(&conn, GET);
	conn_answer(&conn, ANSWER);
	because_of(2, NULL);
	conn_send(&conn, GET);
	assert_false(cause_is_shared_now(&conn));
	conn_send(&conn, GET);
	expect_root(2);
	assert_true(cause_is_shared_now(&conn));
}

/* What else is sent, and whether several requests may ask at once in that way. */
static void other_protocols(void **state)
{
	static const struct {
		const char *bytes;
		bool shared;
	} sent[] = {
	    {"*2\r\n$3\r\nGET\r\n$1\r\na\r\n", true},
	    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", true},
	    {"\x16\x03\x01 a hello", false},
	    {"$1\r\na\r\n", false},
	    {"GET a\r\n*", false},
	};

	for (size_t i = 0; i < sizeof(sent) / sizeof(sent[0]); i++) {
		open_conn(state);
		cause_forget(&conn);
		because_of(1, NULL);
		conn_send(&conn, sent[i].bytes);
		assert_int_equal(cause_is_shared_now(&conn), sent[i].shared);
	}
	cause_forget(&conn);
}

int test_child(void)
{
	const struct CMUnitTest child[] = {
	    cmocka_unit_test(the_trace_of_its_cause),
	    cmocka_unit_test(a_traceparent_of_its_own),
	    cmocka_unit_test(nothing_but_the_call_itself),
	    cmocka_unit_test(a_tracestate_of_any_length),
	    cmocka_unit_test(sent_again_in_any_pieces),
	    cmocka_unit_test(acknowledged_byte_by_byte),
	    cmocka_unit_test(several_in_flight),
	    cmocka_unit_test(too_many_in_flight),
	    cmocka_unit_test(packets_without_room),
	    cmocka_unit_test(not_without_room_at_the_peer),
	    cmocka_unit_test(a_request_that_is_over),
	    cmocka_unit_test(a_connection_that_is_reset),
	    cmocka_unit_test(pipelined),
	    cmocka_unit_test(other_protocols),
	};

	return cmocka_run_group_tests(child, link_setup, link_teardown);
}
