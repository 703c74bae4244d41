// SPDX-License-Identifier: Apache-2.0
/* Requests to a server of ours: packets that come twice, too early, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "server.h"
#include "request_id_of.h"
#include "topics.h"

#define TRACE  "0af7651916cd43dd8448eb211c80319c"
#define FIELD  "traceparent: 00-" TRACE "-b7ad6b7169203331-01\r\n"
#define CHILD  "GET / HTTP/1.1\r\nHost: a\r\n" FIELD "\r\n"
#define GET    "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OK     "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"
#define POST   "POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\n"
#define TWENTY "GET / HTTP/1.1\r\n\r\n  "

static struct server server;

static size_t open_requests(void)
{
	struct request any;

	return server_open_requests(&server, &any);
}

static struct flow flow(void)
{
	return conn_flow(&server.conn);
}

/* A new connection, with a first request that was answered. */
static void open_and_answer(void **state)
{
	server_open(&server, *state);
	server_receive(&server, GET);
	assert_int_equal(open_requests(), 1);
	server_send(&server, OK);
	assert_int_equal(open_requests(), 0);
	rig_forget_counts(*state);
}

static void leave(void)
{
	struct incoming rst = {.more = RST};

	rst.ack = server.conn.stream.len;
	conn_receive(&server.conn, &rst);
	assert_false(conn_is_known(&server.conn));
	assert_int_equal(open_requests(), 0);
	server_close(&server);
}

static void a_request_and_its_response(void **state)
{
	struct request request;
	struct arrival arrival;
	uint32_t first;

	server_open(&server, *state);
	first = server.conn.peer_next;
	server_receive(&server, CHILD);
	expect_counts(*state, {REASON_SERVED_CHILD, 1});
	assert_int_equal(server_open_requests(&server, &request), 1);
	assert_int_equal(request.context.trace_id[0], 0x0a);
	assert_int_equal(request.context.trace_id[15], 0x9c);
	assert_int_equal(request.parent_id[7], 0x31);
	assert_int_equal(request.netns, RIG_NETNS);
	assert_int_equal(server_arrivals(&server, &arrival), 1);
	assert_int_equal(arrival.seq, first);
	assert_memory_equal(&arrival.request, request.context.span_id, 8);
	server_send(&server, OK);
	expect_counts(*state, {REASON_SERVED_ENDED, 1});
	server_receive(&server, GET);
	assert_int_equal(server_arrivals(&server, &arrival), 2);
	assert_int_equal(arrival.seq, first + strlen(CHILD));
	expect_counts(*state, {REASON_SERVED_ROOT, 1});
	leave();
}

static void what_comes_again_is_read_once(void **state)
{
	open_and_answer(state);
	server_receive(&server, CHILD);
	server_receive_at(&server, -(int)strlen(CHILD), CHILD);
	server_receive_at(&server, -(int)strlen(CHILD), CHILD GET);
	server.conn.peer_next += strlen(GET);
	assert_int_equal(open_requests(), 2);
	expect_counts(*state, {REASON_SERVED_CHILD, 1}, {REASON_SERVED_ROOT, 1});
	leave();
}

static void a_response_that_is_sent_again_ends_nothing_more(void **state)
{
	size_t from;

	open_and_answer(state);
	from = server.conn.stream.len;
	server_receive(&server, GET GET);
	server_send(&server, OK);
	conn_transmit(&server.conn, from, server.conn.stream.len);
	assert_int_equal(open_requests(), 1);
	leave();
}

/* The link repeats a SYN, or keeps one back. A new connection has a number that was not read yet.
 */
static void a_syn_that_comes_again(void **state)
{
	struct incoming in = {};
	uint8_t options[40];
	struct segment syn;

	open_and_answer(state);
	server_receive(&server, CHILD);
	syn = conn_incoming(&server.conn, &in, options);
	syn.flags = SYN;
	syn.seq -= strlen(GET CHILD) + 1;
	conn_pass(&server.conn, &syn);
	assert_int_equal(open_requests(), 1);
	server_send(&server, OK);
	expect_counts(*state, {REASON_SERVED_CHILD, 1}, {REASON_SERVED_ENDED, 1});
	server_receive(&server, GET);
	assert_int_equal(open_requests(), 1);
	syn.seq += 100000;
	conn_pass(&server.conn, &syn);
	assert_int_equal(open_requests(), 0);
	assert_false(conn_is_known(&server.conn));
	server_close(&server);
}

/* A body that comes before its head waits for it, and does not matter. */
static void a_body_before_its_head(void **state)
{
	open_and_answer(state);
	server_receive_at(&server, strlen(POST), TWENTY TWENTY);
	assert_int_equal(open_requests(), 0);
	server_receive(&server, POST);
	assert_int_equal(open_requests(), 1);
	server_take_in(&server, 40);
	server.conn.peer_next += 40;
	server_receive(&server, TWENTY TWENTY TWENTY GET);
	assert_int_equal(open_requests(), 2);
	expect_counts(*state, {REASON_SERVED_ROOT, 2});
	leave();
}

#define ID "4bf92f3577b34da6"

static void an_id_however_it_is_cut(void **state)
{
	static const char head[] = "GET / HTTP/1.1\r\nX-Request-Id: " ID " \r\nHost: a\r\n\r\n";
	struct request request;
	char part[sizeof(head)];

	open_and_answer(state);
	/* Nobody reads or acknowledges: the queues of the socket are not endless. */
	for (size_t cut = 1; cut < strlen(head); cut += 4) {
		memcpy(part, head, cut);
		part[cut] = 0;
		server_receive(&server, part);
		server_receive(&server, head + cut);
		assert_int_equal(server_open_requests(&server, &request), 1);
		assert_true(request.request_id == request_id_of(ID));
		server_send(&server, OK);
	}
	server_receive(&server, GET);
	assert_int_equal(server_open_requests(&server, &request), 1);
	assert_true(request.request_id == 0);
	server_receive(&server,
		       "GET / HTTP/1.1\r\nx-request-id: " ID "\r\nx-request-id: " ID "\r\n\r\n");
	server_send(&server, OK);
	assert_int_equal(server_open_requests(&server, &request), 1);
	assert_true(request.request_id == 0);
	leave();
}

/* The second half of a head comes first, and is never seen again: our acknowledgement tells. */
static void a_head_that_was_never_seen_whole(void **state)
{
	static const char head[] = "GET / HTTP/1.1\r\n", rest[] = "Host: a\r\n\r\n";

	open_and_answer(state);
	server_receive_at(&server, strlen(head), rest);
	server_receive(&server, head);
	assert_int_equal(open_requests(), 0);
	assert_false(flow().flags & FLOW_LEARN);
	server_take_in(&server, strlen(rest));
	server.conn.peer_next += strlen(rest);
	conn_transmit(&server.conn, server.conn.stream.len, server.conn.stream.len);
	assert_true(flow().flags & FLOW_LEARN);
	expect_counts(*state, {REASON_SERVED_LOST, 1});
	leave();
}

/* Read again after two requests, the first of which is answered, with nothing on its way. */
static void joined_again(void **state)
{
	open_and_answer(state);
	server.conn.peer_next += 10;
	server_take_in(&server, 10);
	conn_transmit(&server.conn, server.conn.stream.len, server.conn.stream.len);
	assert_true(flow().flags & FLOW_LEARN);
	server_send(&server, OK);
	server_receive(&server, GET);
	assert_int_equal(open_requests(), 0);
	server_send(&server, OK);
	server_receive(&server, CHILD);
	assert_int_equal(open_requests(), 1);
	assert_false(flow().flags & FLOW_LEARN);
	server_send(&server, OK);
	assert_int_equal(open_requests(), 0);
	leave();
}

static void not_joined_without_proof(void **state)
{
	/* Not answered, or by something else. */
	for (int answered = 0; answered < 2; answered++) {
		open_and_answer(state);
		server.conn.peer_next += 10;
		server_take_in(&server, 10);
		conn_transmit(&server.conn, server.conn.stream.len, server.conn.stream.len);
		server_receive(&server, GET);
		if (answered)
			server_send(&server, "no status line");
		server_receive(&server, GET);
		assert_int_equal(open_requests(), 0);
		assert_true(flow().flags & FLOW_LEARN);
		conn_transmit(&server.conn, server.conn.stream.len, server.conn.stream.len);
		leave();
	}
}

/* A response that nobody asked for: what follows cannot be told. */
static void a_response_without_a_request(void **state)
{
	open_and_answer(state);
	server_send(&server, OK);
	assert_true(flow().flags & FLOW_LEARN);
	leave();
}

static void more_than_can_wait(void **state)
{
	open_and_answer(state);
	for (int i = 0; i < SERVING_OPEN_MAX; i++)
		server_receive(&server, GET);
	assert_int_equal(open_requests(), SERVING_OPEN_MAX);
	rig_forget_counts(*state);
	server_receive(&server, GET);
	assert_int_equal(open_requests(), 0);
	expect_counts(*state, {REASON_SERVED_LOST, 1}, {REASON_SERVED_CUT, SERVING_OPEN_MAX});
	leave();
}

static void a_reset_that_is_believed(void **state)
{
	uint8_t options[40];
	struct incoming in = {.more = RST};
	struct segment rst;

	open_and_answer(state);
	server_receive(&server, GET);
	conn_transmit(&server.conn, server.conn.stream.len, server.conn.stream.len);
	in.ack = server.conn.stream.len;
	rst = conn_incoming(&server.conn, &in, options);
	rst.seq += 1;
	conn_pass(&server.conn, &rst);
	assert_int_equal(open_requests(), 1);
	rst.seq -= 1;
	conn_pass(&server.conn, &rst);
	assert_int_equal(open_requests(), 0);
	assert_false(conn_is_known(&server.conn));
	server_close(&server);
}

/* What does not begin with a request makes no entry, or one that is never looked at again. */
static void other_protocols(void **state)
{
	server_open(&server, *state);
	server_receive(&server, "\x16\x03\x01 hello");
	assert_false(conn_is_known(&server.conn));
	server_receive(&server, GET); /* not the first byte: not read without proof */
	assert_int_equal(open_requests(), 0);
	server_close(&server);

	server_open(&server, *state);
	server_receive(&server, "EHLO there\r\n");
	assert_int_equal(flow().opaque_reason, REASON_NOT_HTTP);
	server_receive(&server, GET);
	assert_int_equal(open_requests(), 0);
	server_close(&server);
}

static void a_tunnel(void **state)
{
	open_and_answer(state);
	server_receive(&server, "CONNECT a:1 HTTP/1.1\r\n\r\n" GET);
	assert_int_equal(open_requests(), 0);
	assert_int_equal(flow().opaque_reason, REASON_CONNECT);
	server_close(&server);
}

static void another_protocol_from_here_on(void **state)
{
	open_and_answer(state);
	server_receive(&server, "GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n");
	assert_int_equal(open_requests(), 1);
	server_send(&server, "HTTP/1.1 101 Switching Protocols\r\n\r\nframe");
	assert_int_equal(open_requests(), 0);
	assert_int_equal(flow().opaque_reason, REASON_UPGRADED);
	server_close(&server);
}

int test_serve(void)
{
	const struct CMUnitTest serve[] = {
	    cmocka_unit_test(a_request_and_its_response),
	    cmocka_unit_test(what_comes_again_is_read_once),
	    cmocka_unit_test(a_response_that_is_sent_again_ends_nothing_more),
	    cmocka_unit_test(a_syn_that_comes_again),
	    cmocka_unit_test(a_body_before_its_head),
	    cmocka_unit_test(an_id_however_it_is_cut),
	    cmocka_unit_test(a_head_that_was_never_seen_whole),
	    cmocka_unit_test(joined_again),
	    cmocka_unit_test(not_joined_without_proof),
	    cmocka_unit_test(a_response_without_a_request),
	    cmocka_unit_test(more_than_can_wait),
	    cmocka_unit_test(a_reset_that_is_believed),
	    cmocka_unit_test(other_protocols),
	    cmocka_unit_test(a_tunnel),
	    cmocka_unit_test(another_protocol_from_here_on),
	};

	return cmocka_run_group_tests(serve, rig_setup, rig_teardown);
}
