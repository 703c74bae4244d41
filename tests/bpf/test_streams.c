// SPDX-License-Identifier: Apache-2.0
/* Requests of HTTP/2 to a server of ours: which are open, on which streams, and until when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "http/http2/state.h"
#include "server.h"
#include "topics.h"

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define WHOLE   (HTTP2_END_STREAM | HTTP2_END_HEADERS)
#define FLOWS   1024
#define BYTES   4096

/* GET / of http://a: entries of the static table, and a literal that is put into the other one. */
static const uint8_t get[] = {0x82, 0x86, 0x84, 0x41, 0x01, 'a'};
/* A traceparent that is put into the table: name and value are coded (RFC 7541, 5.2). */
static const uint8_t parent[] = {0x40, 0x88, 0x4d, 0x83, 0x21, 0x6b, 0x1d, 0x85, 0xa9, 0x3f,
				 0xa7, 0x00, 0x16, 0x00, 0xe5, 0x75, 0xc6, 0xc2, 0xf8, 0x5c,
				 0x24, 0x8d, 0x33, 0x24, 0x8f, 0x34, 0xd3, 0xc5, 0x8c, 0x41,
				 0x09, 0x1e, 0x03, 0x21, 0x7c, 0x8b, 0x46, 0xe8, 0xe4, 0x72,
				 0x37, 0x42, 0xe3, 0xe2, 0x03, 0x2c, 0xb2, 0x15, 0x80, 0x1f};
/* The same without a code, in no table. */
static const char plain[] = "\x00\x0btraceparent\x37"
			    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/* The youngest entry of the table. */
static const uint8_t again[] = {0xbe};

static struct server server;

/* Bytes of one side that are not sent yet. */
static uint8_t bytes[BYTES];
static size_t len;

static int setup(void **state)
{
	*state = rig_open_with_http2(FLOWS);
	return 0;
}

static int teardown(void **state)
{
	rig_close(*state);
	return 0;
}

static void put(const void *from, size_t n)
{
	assert_true(len + n <= sizeof(bytes));
	memcpy(bytes + len, from, n);
	len += n;
}

static void put_frame(size_t n, uint8_t type, uint8_t flags, uint8_t stream)
{
	const uint8_t header[HTTP2_FRAME_HEADER] = {0, n >> 8, n, type, flags, 0, 0, 0, stream};

	put(header, sizeof(header));
}

/* A request, with this much more behind its first fields. */
static void put_request(uint8_t stream, const void *more, size_t more_len)
{
	put_frame(sizeof(get) + more_len, HTTP2_HEADERS, WHOLE, stream);
	put(get, sizeof(get));
	put(more, more_len);
}

/* What was put is sent by the client, the first `n` bytes or all of it, in one packet. */
static void receive(size_t n)
{
	struct incoming in = {.ack = stream_to_wire(&server.conn.stream, server.conn.stream.len)};
	uint8_t options[40];
	struct segment segment = conn_incoming(&server.conn, &in, options);

	segment.payload = bytes;
	segment.payload_len = n;
	conn_pass(&server.conn, &segment);
	server.conn.peer_next += n;
	server_take_in(&server, n);
	memmove(bytes, bytes + n, len - n);
	len -= n;
}

/* It is sent by our side. */
static void respond(void)
{
	size_t from = stream_write(&server.conn.stream, bytes, len);

	conn_transmit(&server.conn, from, from + len);
	len = 0;
}

static void respond_end(uint8_t stream)
{
	put_frame(0, HTTP2_DATA, HTTP2_END_STREAM, stream);
	respond();
}

static size_t open_requests(struct request *ret_any)
{
	return server_open_requests(&server, ret_any);
}

/* A connection whose client has sent its preface. */
static void begin(void **state)
{
	server_open(&server, *state);
	len = 0;
	put(PREFACE, strlen(PREFACE));
	put_frame(0, HTTP2_SETTINGS, 0, 0);
	receive(len);
	put_frame(0, HTTP2_SETTINGS, 0, 0);
	respond();
	rig_forget_counts(*state);
}

/* The client goes, and with it all that is open. */
static void leave(void)
{
	struct incoming rst = {.more = RST, .ack = server.conn.stream.len};
	struct request any;

	conn_receive(&server.conn, &rst);
	assert_false(conn_is_known(&server.conn));
	assert_int_equal(open_requests(&any), 0);
	server_close(&server);
}

static void expect_parent(const struct request *request)
{
	assert_int_equal(request->context.trace_id[0], 0x0a);
	assert_int_equal(request->context.trace_id[15], 0x9c);
	assert_int_equal(request->parent_id[7], 0x31);
}

/* Nobody is told who reads them: any thread reads what comes. */
static void each_on_its_stream(void **state)
{
	struct request request;
	struct arrival arrival;

	begin(state);
	put_request(1, parent, sizeof(parent));
	receive(len);
	expect_counts(*state, {REASON_SERVED_CHILD, 1});
	assert_int_equal(open_requests(&request), 1);
	expect_parent(&request);
	put_request(3, NULL, 0);
	put_request(5, plain, sizeof(plain) - 1);
	receive(len);
	expect_counts(*state, {REASON_SERVED_CHILD, 1}, {REASON_SERVED_ROOT, 1});
	assert_int_equal(server_arrivals(&server, &arrival), 0);
	respond_end(3);
	respond_end(1);
	expect_counts(*state, {REASON_SERVED_ENDED, 2});
	assert_int_equal(open_requests(&request), 1);
	expect_parent(&request);
	respond_end(3);
	assert_int_equal(open_requests(&request), 1);
	leave();
	expect_counts(*state, {REASON_SERVED_CUT, 1});
}

static void however_it_is_cut(void **state)
{
	const size_t whole = HTTP2_FRAME_HEADER + sizeof(get) + sizeof(parent);
	struct request request;

	for (size_t first = 1; first < whole; first++) {
		begin(state);
		put_request(1, parent, sizeof(parent));
		receive(first);
		assert_int_equal(open_requests(&request), 0);
		receive(len);
		expect_counts(*state, {REASON_SERVED_CHILD, 1});
		assert_int_equal(open_requests(&request), 1);
		expect_parent(&request);
		leave();
	}
}

static void values_that_are_none(void **state)
{
	uint8_t wrong[sizeof(parent)];

	begin(state);
	memcpy(wrong, parent, sizeof(wrong));
	wrong[12] ^= 0xf8; /* another character, whose code is longer */
	put_request(1, wrong, sizeof(wrong));
	memcpy(wrong, parent, sizeof(wrong));
	wrong[sizeof(wrong) - 1] &= ~1; /* its last byte is filled up with a zero */
	put_request(3, wrong, sizeof(wrong));
	receive(len);
	expect_counts(*state, {REASON_SERVED_INVALID, 2}, {REASON_SERVED_ROOT, 2});
	put_frame(sizeof(get) + 2 * (sizeof(plain) - 1), HTTP2_HEADERS, WHOLE, 5);
	put(get, sizeof(get));
	put(plain, sizeof(plain) - 1);
	put(plain, sizeof(plain) - 1);
	receive(len);
	expect_counts(*state, {REASON_SERVED_INVALID, 1}, {REASON_SERVED_ROOT, 1});
	leave();
}

/* What an entry of the table holds is not kept: the request is nobody's child. */
static void by_its_place_in_the_table(void **state)
{
	begin(state);
	put_request(1, parent, sizeof(parent));
	receive(len);
	expect_counts(*state, {REASON_SERVED_CHILD, 1});
	put_frame(4, HTTP2_HEADERS, WHOLE, 3);
	put(get, 3);
	put(again, sizeof(again));
	receive(len);
	expect_counts(*state, {REASON_SERVED_TABLE, 1}, {REASON_SERVED_ROOT, 1});
	leave();
}

static void trailers_begin_nothing(void **state)
{
	struct request request;

	begin(state);
	put_frame(sizeof(get), HTTP2_HEADERS, HTTP2_END_HEADERS, 1);
	put(get, sizeof(get));
	put_frame(sizeof(parent), HTTP2_HEADERS, WHOLE, 1);
	put(parent, sizeof(parent));
	put_request(3, NULL, 0);
	receive(len);
	expect_counts(*state, {REASON_SERVED_ROOT, 2});
	assert_int_equal(open_requests(&request), 2);
	leave();
}

static void a_stream_that_is_reset(void **state)
{
	static const uint8_t cancel[] = {0, 0, 0, 8};
	struct request request;

	begin(state);
	put_request(1, NULL, 0);
	put_request(3, NULL, 0);
	put_frame(sizeof(cancel), HTTP2_RST_STREAM, 0, 1);
	put(cancel, sizeof(cancel));
	receive(len);
	assert_int_equal(open_requests(&request), 1);
	put_frame(sizeof(cancel), HTTP2_RST_STREAM, 0, 3);
	put(cancel, sizeof(cancel));
	respond();
	assert_int_equal(open_requests(&request), 0);
	leave();
}

static void more_than_there_is_room_for(void **state)
{
	struct request request;

	begin(state);
	for (int i = 0; i <= STREAMS_MAX; i++)
		put_request(1 + 2 * i, NULL, 0);
	receive(len);
	assert_int_equal(open_requests(&request), STREAMS_MAX);
	assert_int_equal(rig_count(*state, REASON_SERVED_FULL), 1);
	respond_end(7);
	put_request(1 + 2 * (STREAMS_MAX + 1), NULL, 0);
	receive(len);
	assert_int_equal(open_requests(&request), STREAMS_MAX);
	leave();
}

/* The socket has taken in what did not pass here: what the tables hold is not known any more. */
static void bytes_that_were_missed(void **state)
{
	struct request request;

	begin(state);
	put_request(1, NULL, 0);
	receive(len);
	put_request(3, NULL, 0);
	server_take_in(&server, len);
	server.conn.peer_next += len;
	len = 0;
	put_frame(0, HTTP2_PING, 0, 0);
	respond();
	assert_int_equal(open_requests(&request), 0);
	assert_int_equal(conn_flow(&server.conn).opaque_reason, REASON_SERVED_LOST);
	put_request(5, NULL, 0);
	receive(len);
	assert_int_equal(open_requests(&request), 0);
	leave();
}

/* A connection that was open before is not read, whatever comes. */
static void met_in_the_middle(void **state)
{
	struct request request;

	server_open(&server, *state);
	server_take_in(&server, 1);
	server.conn.peer_next++;
	len = 0;
	put(PREFACE, strlen(PREFACE));
	put_frame(0, HTTP2_SETTINGS, 0, 0);
	put_request(1, parent, sizeof(parent));
	receive(len);
	assert_int_equal(open_requests(&request), 0);
	server_close(&server);
}

int test_streams(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_on_its_stream),
	    cmocka_unit_test(however_it_is_cut),
	    cmocka_unit_test(values_that_are_none),
	    cmocka_unit_test(by_its_place_in_the_table),
	    cmocka_unit_test(trailers_begin_nothing),
	    cmocka_unit_test(a_stream_that_is_reset),
	    cmocka_unit_test(more_than_there_is_room_for),
	    cmocka_unit_test(bytes_that_were_missed),
	    cmocka_unit_test(met_in_the_middle),
	};

	return cmocka_run_group_tests_name("streams", tests, setup, teardown);
}
