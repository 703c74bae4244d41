// SPDX-License-Identifier: Apache-2.0
/* What is not HTTP/1, or could be read in two ways: never changed, not one byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "topics.h"

#define GET   "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN "GET / HTTP/1.1\r\nHost: a\r\n\r\n"

static struct conn conn;

/* A first packet, and why the flow is left alone from then on. */
struct opaque_case {
	const char *bytes;
	size_t len; /* 0: a text */
	enum ctxprop_reason reason;
};

static const struct opaque_case opaque_cases[] = {
    {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11, REASON_TLS},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, REASON_HTTP2},
    {"\0\0\0\x17\x03 binary", 12, REASON_NOT_HTTP},
    {"SSH-2.0-OpenSSH_9.2p1\r\n", 0, REASON_NOT_HTTP},
    {"*1\r\n$4\r\nPING\r\n", 0, REASON_NOT_HTTP},
    {"GET /\r\n", 0, REASON_NOT_HTTP},
    {"GET / HTTP/1.2\r\nHost: a\r\n\r\n", 0, REASON_NOT_HTTP},
    {"GET / HTTP/3.0\r\n\r\n", 0, REASON_NOT_HTTP},
    {"GET  / HTTP/1.1\r\n\r\n", 0, REASON_NOT_HTTP},
    {"GET / HTTP/1.1 \r\n\r\n", 0, REASON_NOT_HTTP},
    {"HTTP/1.1 200 OK\r\n\r\n", 0, REASON_NOT_HTTP},
};

/* Heads of which two servers could think different things, and so bodies of two lengths. */
static const struct opaque_case smuggling_cases[] = {
    {"POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0,
     REASON_LENGTH},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", 0,
     REASON_LENGTH},
    {"POST / HTTP/1.1\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde", 0, REASON_LENGTH},
    {"POST / HTTP/1.1\r\nContent-Length: 4, 5\r\n\r\nabcde", 0, REASON_LENGTH},
    {"POST / HTTP/1.1\r\nContent-Length: +4\r\n\r\nabcd", 0, REASON_LENGTH},
    {"POST / HTTP/1.1\r\nContent-Length: 0x4\r\n\r\nabcd", 0, REASON_LENGTH},
    {"POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\nabcd", 0, REASON_LENGTH},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\nabcd", 0, REASON_LENGTH},
    {"POST / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\nabcd", 0, REASON_LENGTH},
    {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, REASON_LENGTH},
    {"POST / HTTP/1.1\r\nContent-Length : 4\r\n\r\nabcd", 0, REASON_MALFORMED},
    {"POST / HTTP/1.1\r\n Content-Length: 4\r\n\r\nabcd", 0, REASON_MALFORMED},
    {"GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n", 0, REASON_MALFORMED},
    {"GET / HTTP/1.1\r\nX: a\nY: b\r\n\r\n", 0, REASON_MALFORMED},
    {"GET / HTTP/1.1\r\nX: a\rb\r\n\r\n", 0, REASON_MALFORMED},
    {"GET / HTTP/1.1\r\nX: a\0b\r\n\r\n", 27, REASON_MALFORMED},
};

static void send_plain(const struct opaque_case *the)
{
	size_t from =
	    stream_write(&conn.stream, the->bytes, the->len ? the->len : strlen(the->bytes));

	conn_transmit(&conn, from, conn.stream.len);
}

static void is_left_alone(struct rig *rig, const struct opaque_case *the)
{
	struct flow f;

	conn_open(&conn, rig, &ordinary);
	send_plain(the);
	f = conn_flow(&conn);
	assert_true(f.flags & FLOW_OPAQUE);
	assert_int_equal(f.opaque_reason, the->reason);
	expect_counts(rig, {the->reason, 1});
	conn_ack_all(&conn);
	conn_send(&conn, PLAIN);
	conn_ack_all(&conn);
	expect_counts(rig, {the->reason, 0});
}

/* The same after a request with a header: from then on numbers only. */
static void is_renumbered_only(struct rig *rig, const struct opaque_case *the)
{
	conn_open(&conn, rig, &ordinary);
	conn_send(&conn, GET);
	conn_answer(&conn, "HTTP/1.1 204 No Content\r\n\r\n");
	rig_forget_counts(rig);
	send_plain(the);
	expect_counts(rig, {the->reason, 1}, {REASON_SEQ, 1});
	conn_ack_all(&conn);
	conn_send(&conn, PLAIN);
	conn_transmit(&conn, conn.stream.len, conn.stream.len);
	expect_counts(rig, {REASON_SEQ, 2}, {REASON_ACK, 1});
}

static void other_protocols(void **state)
{
	for (size_t i = 0; i < sizeof(opaque_cases) / sizeof(opaque_cases[0]); i++) {
		is_left_alone(*state, &opaque_cases[i]);
		is_renumbered_only(*state, &opaque_cases[i]);
	}
}

static void heads_that_could_smuggle(void **state)
{
	for (size_t i = 0; i < sizeof(smuggling_cases) / sizeof(smuggling_cases[0]); i++) {
		is_left_alone(*state, &smuggling_cases[i]);
		is_renumbered_only(*state, &smuggling_cases[i]);
	}
}

/* CONNECT and what follows its head is a tunnel, for good. */
static void a_tunnel(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n");
	conn_answer(&conn, "HTTP/1.1 200 OK\r\n\r\n");
	conn_send(&conn, PLAIN);
	assert_int_equal(conn_flow(&conn).opaque_reason, REASON_CONNECT);
	conn_answer(&conn, "HTTP/1.1 200 OK\r\n\r\n");
	conn_send(&conn, PLAIN);
	assert_int_equal(rig_count(*state, REASON_INJECTED), 0);

	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, "CONNECT a:443 HTTP/1.1\r\n\r\n" PLAIN);
	assert_int_equal(conn_flow(&conn).opaque_reason, REASON_CONNECT);
}

/* Not a byte of TLS is touched, however the records look. */
static void a_request_inside_another_protocol(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, "\x16\x03\x01 hello");
	conn_send(&conn, PLAIN);
	conn_send(&conn, "\x17\x03\x03" PLAIN);
	expect_counts(*state, {REASON_TLS, 1});
}

static void a_broken_chunk(void **state)
{
	static const char *const broken[] = {
	    "x\r\n",  "5\rabcde", "5\nabcde\r\n", "5\r\nabcdeXX", "ffffffffffffffffff\r\n",
	    "-1\r\n", "\r\n"};

	for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n^\r\n");
		conn_send(&conn, broken[i]);
		conn_send(&conn, PLAIN);
		assert_true(conn_flow(&conn).flags & FLOW_OPAQUE);
		assert_int_equal(rig_count(*state, REASON_INJECTED), 1);
		conn_transmit(&conn, 0, conn.stream.len);
	}
}

static void a_header_that_is_there_already(void **state)
{
	static const char *const names[] = {"traceparent", "Traceparent", "TRACEPARENT",
					    "tRaCePaReNt"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[200];

		snprintf(text, sizeof(text),
			 "GET / HTTP/1.1\r\nHost: a\r\n%s: "
			 "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n",
			 names[i]);
		conn_open(&conn, *state, &ordinary);
		conn_send(&conn, text);
		expect_counts(*state, {REASON_PRESENT, 1});
		conn_send(&conn, GET);
		expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
	}
}

/* Wherever the head is cut, the name is recognised. */
static void a_header_that_is_there_cut_anywhere(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nTraceparent: x\r\nHost: a\r\n\r\n";

	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		conn_open(&conn, *state, &ordinary);
		stream_write_marked(&conn.stream, text);
		conn_transmit(&conn, 0, cut);
		conn_transmit(&conn, cut, conn.stream.len);
		expect_counts(*state, {REASON_PRESENT, 1});
	}
}

/* It would count if a traceparent came to it. Beside one of the program's own nothing is new. */
static void a_tracestate_without_a_traceparent(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\nTraceState: a=1\r\nHost: a\r\n\r\n";

	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		conn_open(&conn, *state, &ordinary);
		stream_write_marked(&conn.stream, text);
		conn_transmit(&conn, 0, cut);
		conn_transmit(&conn, cut, conn.stream.len);
		expect_counts(*state, {REASON_STATE_ALONE, 1});
		conn_send(&conn, GET);
		expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
	}
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, "GET / HTTP/1.1\r\ntracestate: a=1\r\ntraceparent: x\r\n\r\n");
	expect_counts(*state, {REASON_PRESENT, 1});
}

static void a_header_in_the_body_or_the_trailers_does_not_count(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, "POST / HTTP/1.1\r\nContent-Length: 17\r\n^\r\ntraceparent: x\r\n\r");
	conn_send(&conn, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n^\r\n0\r\n"
			 "traceparent: x\r\n\r\n");
	conn_send(&conn, GET);
	expect_counts(*state, {REASON_INJECTED, 3}, {REASON_GROWN, 3});
}

/* A head over the cap is not edited; its framing goes on. */
static void a_head_that_is_too_long(void **state)
{
	static char line[1000];
	static const char begin[] = "GET / HTTP/1.1\r\n";
	size_t from;

	memset(line, 'x', sizeof(line));
	memcpy(line, "X: ", 3);
	memcpy(line + sizeof(line) - 2, "\r\n", 2);
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, begin);
	for (size_t len = sizeof(begin); len < HTTP1_HEAD_CAP; len += sizeof(line)) {
		from = stream_write(&conn.stream, line, sizeof(line));
		conn_transmit(&conn, from, conn.stream.len);
	}
	conn_send(&conn, "\r\n");
	expect_counts(*state, {REASON_HEAD_LONG, 1});
	conn_ack_all(&conn);
	conn_send(&conn, GET);
	expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
}

static void urgent_data(void **state)
{
	struct segment s;

	conn_open(&conn, *state, &ordinary);
	stream_write_marked(&conn.stream, PLAIN);
	s = conn_segment(&conn, 0, conn.stream.len);
	s.flags |= URG;
	s.urgent = 3;
	conn_transmit_as(&conn, &s);
	expect_counts(*state, {REASON_URGENT, 1});
	conn_send(&conn, PLAIN);
	expect_counts(*state, {REASON_URGENT, 0});
}

static void paused(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, GET);
	rig_pause(*state, true);
	rig_forget_counts(*state);
	conn_send(&conn, PLAIN);
	expect_counts(*state, {REASON_PAUSED, 1}, {REASON_SEQ, 1});
	conn_transmit(&conn, 0, conn.stream.len);
	expect_counts(*state, {REASON_GROWN, 1}, {REASON_RESENT, 1});
	conn_ack_all(&conn);
	rig_pause(*state, false);
	rig_forget_counts(*state);
	conn_send(&conn, GET);
	expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
}

static void options_of_the_peer_that_forbid_it(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
		enum ctxprop_reason reason;
	} options[] = {
	    {"\x13\x12"
	     "0123456789abcdef"
	     "\x01\x01",
	     20, REASON_TCP_SIGNED},
	    {"\x1d\x10"
	     "0123456789abcd",
	     16, REASON_TCP_SIGNED},
	    {"\x1e\x0c"
	     "0123456789",
	     12, REASON_MPTCP},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct opening o = ordinary;

		o.options = (const uint8_t *)options[i].bytes;
		o.options_len = options[i].len;
		conn_open(&conn, *state, &o);
		assert_true(conn_flow(&conn).flags & FLOW_OPAQUE);
		assert_int_equal(conn_flow(&conn).opaque_reason, options[i].reason);
		conn_send(&conn, PLAIN);
		conn_ack_all(&conn);
		expect_counts(*state, {options[i].reason, 0});
	}
}

int test_opaque(void)
{
	const struct CMUnitTest opaque[] = {
	    cmocka_unit_test(other_protocols),
	    cmocka_unit_test(heads_that_could_smuggle),
	    cmocka_unit_test(a_tunnel),
	    cmocka_unit_test(a_request_inside_another_protocol),
	    cmocka_unit_test(a_broken_chunk),
	    cmocka_unit_test(a_header_that_is_there_already),
	    cmocka_unit_test(a_header_that_is_there_cut_anywhere),
	    cmocka_unit_test(a_tracestate_without_a_traceparent),
	    cmocka_unit_test(a_header_in_the_body_or_the_trailers_does_not_count),
	    cmocka_unit_test(a_head_that_is_too_long),
	    cmocka_unit_test(urgent_data),
	    cmocka_unit_test(paused),
	    cmocka_unit_test(options_of_the_peer_that_forbid_it),
	};

	return cmocka_run_group_tests(opaque, rig_setup, rig_teardown);
}
