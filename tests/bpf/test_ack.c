// SPDX-License-Identifier: Apache-2.0
/* What the peer says about our bytes: acknowledgements, SACK blocks, its window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "conn.h"
#include "tcp_options.h"
#include "topics.h"

#define GET     "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_LEN 27
#define ANSWER  "HTTP/1.1 204 No Content\r\n\r\n"
/* Of one GET: its edit stands at wire bytes [25, 95). */
#define EDIT_BEGIN 25
#define EDIT_END   (EDIT_BEGIN + LINE_LEN)
#define WIRE_LEN   (GET_LEN + LINE_LEN)

static struct conn conn;

static void open_and_send(struct rig *rig, const struct opening *o, int requests)
{
	conn_open(&conn, rig, o);
	while (requests--)
		conn_send(&conn, GET);
	rig_forget_counts(rig);
}

static void of_every_byte(void **state)
{
	open_and_send(*state, &ordinary, 3);
	for (size_t w = 0; w <= 3 * WIRE_LEN; w++)
		conn_ack(&conn, w);
	expect_counts(*state, {REASON_ACK, 3 * WIRE_LEN + 1});
	assert_int_equal(conn_in_flight(&conn), 0);
	assert_int_equal(conn_base(&conn), 3 * LINE_LEN);
}

static void in_every_kind_of_packet(void **state)
{
	for (size_t i = 0; i < SHAPES; i++) {
		struct opening o = ordinary;

		o.shape = shapes[i];
		open_and_send(*state, &o, 2);
		conn_ack(&conn, 5);
		conn_receive(&conn,
			     &(struct incoming){
				 .ack = EDIT_BEGIN + 1,
				 .sacks = 2,
				 .sack = {{EDIT_END, WIRE_LEN}, {WIRE_LEN + 3, WIRE_LEN + 20}},
				 .timestamps = true,
			     });
		conn_answer(&conn, ANSWER);
		conn_ack_all(&conn);
	}
}

static void across_the_end_of_the_number_space(void **state)
{
	for (uint32_t before = 0; before < WIRE_LEN + 10; before++) {
		struct opening o = ordinary;

		o.isn = 0u - before;
		open_and_send(*state, &o, 1);
		for (size_t w = 0; w <= WIRE_LEN; w++)
			conn_ack(&conn, w);
	}
}

static void that_are_old_change_nothing(void **state)
{
	struct flow before, after;

	open_and_send(*state, &ordinary, 2);
	conn_ack(&conn, WIRE_LEN - 1);
	before = conn_flow(&conn);
	for (size_t w = 0; w < WIRE_LEN - 1; w++)
		conn_ack(&conn, w);
	after = conn_flow(&conn);
	assert_int_equal(after.peer_ack, before.peer_ack);
	assert_int_equal(after.window, before.window);
	assert_int_equal(edits_count(&after.edits), 1);
}

/* An acknowledgement of what was never sent, or from far away, must not retire anything. */
static void that_nobody_can_have_sent_change_nothing(void **state)
{
	uint8_t options[40];
	struct segment s, want;

	open_and_send(*state, &ordinary, 1);
	s = conn_incoming(&conn, &(struct incoming){.ack = WIRE_LEN + 100}, options);
	want = s;
	want.ack -= LINE_LEN;
	want.window = conn_app_window(&conn, s.window, WIRE_LEN);
	conn_expect(&conn, &s, &want);
	assert_int_equal(conn_in_flight(&conn), 1);
	s = conn_incoming(&conn, &(struct incoming){.ack = WIRE_LEN}, options);
	s.seq += 1u << 30;
	want = s;
	want.ack -= LINE_LEN;
	want.window = conn_app_window(&conn, s.window, WIRE_LEN);
	conn_expect(&conn, &s, &want);
	assert_int_equal(conn_in_flight(&conn), 1);
	conn_transmit(&conn, 0, GET_LEN);
	conn_ack_all(&conn);
}

static void with_data(void **state)
{
	open_and_send(*state, &ordinary, 1);
	conn_answer(&conn, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
	expect_counts(*state, {REASON_ACK, 1});
	conn_send(&conn, GET);
	conn_answer(&conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

static void without_an_edit_are_not_touched(void **state)
{
	conn_open(&conn, *state, &ordinary);
	conn_send(&conn, "GET / HTTP/1.1\r\nTraceparent: x\r\n\r\n");
	expect_counts(*state, {REASON_PRESENT, 1});
	conn_receive(&conn, &(struct incoming){.ack = 5, .sacks = 1, .sack = {{10, 20}}});
	conn_ack_all(&conn);
	expect_counts(*state, {REASON_ACK, 0});
}

/* Every block there can be around two edits. */
static void every_block(void **state)
{
	size_t wire = 2 * WIRE_LEN;

	open_and_send(*state, &ordinary, 2);
	for (size_t left = 0; left < wire; left++) {
		for (size_t right = left + 1; right <= wire; right++)
			conn_receive(&conn,
				     &(struct incoming){.sacks = 1, .sack = {{left, right}}});
	}
}

/* clang-format off */
#define EMPTY  {EDIT_BEGIN + 2, EDIT_END}
#define WHOLE  {EDIT_END, WIRE_LEN}
#define SECOND {WIRE_LEN + 1, WIRE_LEN + 30}
#define THIRD  {2 * WIRE_LEN - 2, 2 * WIRE_LEN}
/* clang-format on */

static void blocks_that_become_empty_make_room(void **state)
{
	static const struct incoming all[] = {
	    {.sacks = 1, .sack = {EMPTY}},
	    {.sacks = 2, .sack = {EMPTY, SECOND}},
	    {.sacks = 2, .sack = {SECOND, EMPTY}},
	    {.sacks = 2, .sack = {EMPTY, EMPTY}},
	    {.sacks = 3, .sack = {SECOND, EMPTY, THIRD}},
	    {.sacks = 3, .sack = {EMPTY, EMPTY, THIRD}},
	    {.sacks = 3, .sack = {SECOND, WHOLE, THIRD}},
	    {.sacks = 4, .sack = {SECOND, EMPTY, THIRD, EMPTY}},
	    {.sacks = 4, .sack = {EMPTY, EMPTY, EMPTY, EMPTY}},
	    {.sacks = 4, .sack = {THIRD, SECOND, WHOLE, THIRD}},
	};

	open_and_send(*state, &ordinary, 2);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct incoming in = all[i];

		conn_receive(&conn, &in);
		in.timestamps = in.sacks < 4;
		conn_receive(&conn, &in);
	}
}

/* D-SACK: the first block repeats what is acknowledged, or lies inside the second one. */
static void a_duplicate_stays_a_duplicate(void **state)
{
	open_and_send(*state, &ordinary, 2);
	conn_receive(&conn,
		     &(struct incoming){.ack = EDIT_BEGIN, .sacks = 1, .sack = {{0, EDIT_BEGIN}}});
	conn_receive(&conn, &(struct incoming){
				.ack = 3,
				.sacks = 2,
				.sack = {{EDIT_END, WIRE_LEN}, {EDIT_END - 5, 2 * WIRE_LEN}}});
}

/* Of bytes whose edits have retired: the places of these are still known. */
static void a_duplicate_of_what_has_retired_is_exact(void **state)
{
	open_and_send(*state, &ordinary, 3);
	conn_ack_all(&conn);
	conn_send(&conn, GET);
	for (size_t left = 0; left < 3 * WIRE_LEN; left++)
		for (size_t right = left + 1; right <= 3 * WIRE_LEN; right++)
			conn_receive(&conn, &(struct incoming){.ack = 3 * WIRE_LEN,
							       .sacks = 1,
							       .sack = {{left, right}}});
}

/* An overtaken packet says what was missing then: its blocks lie behind its acknowledgement. */
static void blocks_of_an_old_acknowledgement_are_no_duplicates(void **state)
{
	open_and_send(*state, &ordinary, 3);
	conn_ack_all(&conn);
	for (size_t ack = 0; ack < 2 * WIRE_LEN; ack += 5)
		for (size_t left = ack + 1; left < 3 * WIRE_LEN; left += 3)
			conn_receive(
			    &conn, &(struct incoming){.ack = ack,
						      .sacks = 2,
						      .sack = {{left, left + 40},
							       {3 * WIRE_LEN - 9, 3 * WIRE_LEN}}});
}

/* Options as nobody lays them out, broken ones too: the number is translated, nothing is lost. */
static void options_that_make_no_sense(void **state)
{
	static const struct {
		const char *bytes;
		size_t len;
	} options[] = {
	    {"\x05\x02\x01\x01", 4},
	    {"\x05\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01", 12},
	    {"\x05\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01", 12},
	    {"\x05\xff\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01", 12},
	    {"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x05", 12},
	    {"\x00\x05\x0a\x01\x01\x01\x01\x01\x01\x01\x01\x01", 12},
	    {"\xfd\x01\x05\x0a\x01\x01\x01\x01\x01\x01\x01\x01", 12},
	    {"\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", 16},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		uint8_t none[40];
		struct segment s, want;

		open_and_send(*state, &ordinary, 1);
		s = conn_incoming(&conn, &(struct incoming){.ack = WIRE_LEN}, none);
		s.options = (const uint8_t *)options[i].bytes;
		s.options_len = options[i].len;
		want = s;
		want.ack -= LINE_LEN;
		want.window = conn_app_window(&conn, s.window, WIRE_LEN);
		conn_expect(&conn, &s, &want);
	}
}

/* No NOPs in front: the blocks stand at odd places of the header. */
static void a_block_at_an_odd_place(void **state)
{
	for (size_t nops = 0; nops < 3; nops++) {
		uint8_t wire[12], app[12], none[40];
		struct segment s, want;

		open_and_send(*state, &ordinary, 1);
		memset(wire, TCP_NOP, sizeof(wire));
		memcpy(wire + nops, "\x05\x0a", 2);
		memcpy(app, wire, sizeof(app));
		put32(wire + nops + 2, conn.stream.first + EDIT_BEGIN - 4);
		put32(wire + nops + 6, conn.stream.first + WIRE_LEN);
		put32(app + nops + 2, conn.stream.first + EDIT_BEGIN - 4);
		put32(app + nops + 6, conn.stream.first + GET_LEN);
		s = conn_incoming(&conn, &(struct incoming){.ack = 3}, none);
		s.options = wire;
		s.options_len = sizeof(wire);
		want = s;
		want.options = app;
		want.window = conn_app_window(&conn, s.window, 3);
		conn_expect(&conn, &s, &want);
	}
}

/* The window that the peer offers is for wire bytes; the edits in flight take their part. */
static void the_window_shrinks_by_the_edits_in_flight(void **state)
{
	for (uint8_t scale = 0; scale <= 14; scale++) {
		struct opening o = ordinary;

		o.wscale = scale;
		open_and_send(*state, &o, 2);
		for (size_t w = 0; w <= 2 * WIRE_LEN; w += 7)
			conn_receive(&conn, &(struct incoming){.ack = w, .window = 1 + w % 300});
		conn_receive(&conn, &(struct incoming){.ack = 2 * WIRE_LEN, .zero_window = true});
	}
}

static void a_window_smaller_than_the_edits_is_closed(void **state)
{
	struct opening o = ordinary;

	o.wscale = 0;
	open_and_send(*state, &o, 2);
	for (uint16_t window = 1; window < 2 * LINE_LEN + 5; window++)
		conn_receive(&conn, &(struct incoming){.ack = 3, .window = window});
	conn_receive(&conn, &(struct incoming){.ack = 3, .zero_window = true});
}

/* A header is added only where it fits what the peer said it would take. */
static void a_full_window_prevents_injection(void **state)
{
	for (int room = -3; room <= 3; room++) {
		struct opening o = ordinary;

		o.window = WIRE_LEN + room;
		conn_open(&conn, *state, &o);
		conn_send(&conn, room < 0 ? PLAIN : GET);
		if (room < 0)
			expect_counts(*state, {REASON_WINDOW, 1});
		else
			expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
	}
}

#define POST(more) "POST / HTTP/1.1\r\nHost: a\r\n" more "\r\n"

/* What follows at once would be pushed out of a small window that is not scaled. */
static void a_body_that_fills_the_window_prevents_injection(void **state)
{
	static const struct {
		const char *head;
		uint16_t window;
		uint8_t wscale;
		bool fits;
	} cases[] = {
	    {POST("Content-Length: 3000\r\n^"), 1460, 0, false},
	    {POST("Content-Length: 1000\r\n^"), 1460, 0, true},
	    {POST("Transfer-Encoding: chunked\r\n^"), 1460, 0, false},
	    {POST("Content-Length: 30000\r\n^"), 16383, 0, false},
	    {POST("Content-Length: 99999999999\r\n^"), 16383, 0, false},
	    {POST("Content-Length: 30000\r\n^"), 16384, 0, true},
	    {POST("Content-Length: 3000\r\n^"), 1460, 1, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct opening o = ordinary;
		char text[100], *mark;

		o.window = cases[i].window;
		o.wscale = cases[i].wscale;
		conn_open(&conn, *state, &o);
		strcpy(text, cases[i].head);
		mark = strchr(text, '^');
		if (!cases[i].fits)
			memmove(mark, mark + 1, strlen(mark));
		conn_send(&conn, text);
		assert_int_equal(rig_count(*state, REASON_WINDOW), !cases[i].fits);
		assert_int_equal(rig_count(*state, REASON_INJECTED), cases[i].fits);
	}
}

static void edits_in_flight_count_in_the_window(void **state)
{
	for (int room = -3; room <= 3; room++) {
		struct opening o = ordinary;

		o.window = 2 * WIRE_LEN + room;
		conn_open(&conn, *state, &o);
		conn_send(&conn, GET);
		conn_send(&conn, room < 0 ? PLAIN : GET);
		assert_int_equal(rig_count(*state, REASON_WINDOW), room < 0);
	}
}

static void a_later_window_counts_with_its_scale(void **state)
{
	for (uint8_t scale = 0; scale <= 14; scale++) {
		struct opening o = ordinary;
		uint16_t enough = (WIRE_LEN + (1 << scale) - 1) >> scale;

		o.wscale = scale;
		conn_open(&conn, *state, &o);
		conn_send(&conn, GET);
		conn_receive(&conn, &(struct incoming){.ack = WIRE_LEN, .window = enough});
		rig_forget_counts(*state);
		conn_send(&conn, GET);
		expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
		conn_ack_all(&conn);
		if (enough == 1)
			continue;
		conn_receive(&conn, &(struct incoming){.ack = 2 * WIRE_LEN, .window = enough - 1});
		rig_forget_counts(*state);
		conn_send(&conn, PLAIN);
		expect_counts(*state, {REASON_WINDOW, 1}, {REASON_SEQ, 1});
	}
}

/* A head at the very end of what the app may send still gets its header. */
static void a_window_that_is_filled_has_room_for_one_header(void **state)
{
	static const char own[] = "POST / HTTP/1.1\r\nTraceparent: x\r\n"
				  "Content-Length: %4zu\r\n\r\n";
	const uint16_t units = 40;
	size_t head_len = sizeof(own) - 1, fill, from, end;
	char head[sizeof(own)];

	open_and_send(*state, &ordinary, 1);
	conn_receive(&conn, &(struct incoming){.ack = WIRE_LEN, .window = units});
	fill = (size_t)conn_app_window(&conn, units, WIRE_LEN) << ordinary.wscale;
	assert_true(fill < (size_t)units << ordinary.wscale);
	fill -= head_len + GET_LEN;
	snprintf(head, sizeof(head), own, fill);
	assert_int_equal(strlen(head), head_len);
	conn_send(&conn, head);
	from = conn.stream.len;
	for (size_t i = 0; i < fill; i++)
		stream_write(&conn.stream, "x", 1);
	for (end = conn.stream.len; from < end; from += 1000)
		conn_transmit(&conn, from, from + 1000 < end ? from + 1000 : end);
	rig_forget_counts(*state);
	conn_send(&conn, GET);
	expect_counts(*state, {REASON_INJECTED, 1}, {REASON_GROWN, 1});
}

/* The window of a SYN-ACK is never scaled, not even when it comes again. */
static void the_window_of_a_repeated_syn_ack_is_not_scaled(void **state)
{
	uint8_t options[40];
	struct opening o = ordinary;
	struct segment s;

	o.window = 1000;
	conn_open(&conn, *state, &o);
	s = conn_syn_ack(&conn, &o, options);
	conn_pass(&conn, &s);
	assert_int_equal(conn_flow(&conn).window, 1000);
}

int test_ack(void)
{
	const struct CMUnitTest ack[] = {
	    cmocka_unit_test(of_every_byte),
	    cmocka_unit_test(in_every_kind_of_packet),
	    cmocka_unit_test(across_the_end_of_the_number_space),
	    cmocka_unit_test(that_are_old_change_nothing),
	    cmocka_unit_test(that_nobody_can_have_sent_change_nothing),
	    cmocka_unit_test(with_data),
	    cmocka_unit_test(without_an_edit_are_not_touched),
	    cmocka_unit_test(every_block),
	    cmocka_unit_test(blocks_that_become_empty_make_room),
	    cmocka_unit_test(a_duplicate_stays_a_duplicate),
	    cmocka_unit_test(a_duplicate_of_what_has_retired_is_exact),
	    cmocka_unit_test(blocks_of_an_old_acknowledgement_are_no_duplicates),
	    cmocka_unit_test(options_that_make_no_sense),
	    cmocka_unit_test(a_block_at_an_odd_place),
	    cmocka_unit_test(the_window_shrinks_by_the_edits_in_flight),
	    cmocka_unit_test(a_window_smaller_than_the_edits_is_closed),
	    cmocka_unit_test(a_full_window_prevents_injection),
	    cmocka_unit_test(a_body_that_fills_the_window_prevents_injection),
	    cmocka_unit_test(edits_in_flight_count_in_the_window),
	    cmocka_unit_test(a_later_window_counts_with_its_scale),
	    cmocka_unit_test(a_window_that_is_filled_has_room_for_one_header),
	    cmocka_unit_test(the_window_of_a_repeated_syn_ack_is_not_scaled),
	};

	return cmocka_run_group_tests(ack, rig_setup, rig_teardown);
}
