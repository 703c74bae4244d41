// SPDX-License-Identifier: Apache-2.0
/*
 * What framing knows of a head at its blank line: which fields it has, however long it is and
 * however it is cut. Other agents looked into the first kilobyte or the first packet only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "run.h"

#define STREAM_MAX (2 * HTTP1_HEAD_CAP)

static char stream[STREAM_MAX];
static size_t used;
static struct run run;

static void put(const char *text)
{
	size_t len = strlen(text);

	assert_true(used + len < sizeof(stream));
	memcpy(stream + used, text, len + 1);
	used += len;
}

static void begin(const char *text)
{
	used = 0;
	put(text);
}

/* A field line of `len` bytes, its CR LF included. */
static void put_filler(size_t len)
{
	put("X-Filler: ");
	for (size_t i = strlen("X-Filler: \r\n"); i < len; i++)
		put("x");
	put("\r\n");
}

static const struct run_mark *find(enum protocol_event event)
{
	for (size_t i = 0; i < run.count; i++)
		if (run.marks[i].event == event)
			return &run.marks[i];
	return NULL;
}

/* Run over the stream, in two packets if `cut` is not 0. Returns the mark of the blank line. */
static const struct run_mark *blank(size_t cut)
{
	struct run_input input = {
	    .kind = PROTOCOL_REQUEST,
	    .bytes = (const uint8_t *)stream,
	    .len = used,
	    .cuts = &cut,
	    .cut_count = cut != 0,
	};

	run_stream(&input, &run);
	assert_null(run.fault);
	return find(PROTOCOL_BLANK);
}

static uint16_t flags(void)
{
	const struct run_mark *mark = blank(0);

	assert_non_null(mark);
	return mark->flags;
}

static void a_field_is_found_in_any_case(void **state)
{
	static const char *const names[] = {"traceparent", "Traceparent", "TRACEPARENT",
					    "TraceParent", "tRACEPARENt"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		begin("GET / HTTP/1.1\r\nHost: a\r\n");
		put(names[i]);
		put(": 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n\r\n");
		assert_int_equal(flags(), HTTP1_TRACEPARENT);
	}
}

static void each_field_has_its_flag(void **state)
{
	static const struct {
		const char *line;
		uint16_t flags;
	} lines[] = {
	    {"tracestate: a=b\r\n", HTTP1_TRACESTATE},
	    {"TRACEPARENT:\r\n", HTTP1_TRACEPARENT},
	    {"Upgrade: websocket\r\n", HTTP1_UPGRADE},
	    {"Content-Length: 5\r\n", HTTP1_HAS_LENGTH},
	    {"Transfer-Encoding: chunked\r\n", HTTP1_CODED | HTTP1_CHUNKED},
	    {"traceparent: a\r\nupgrade: b\r\n", HTTP1_TRACEPARENT | HTTP1_UPGRADE},
	    {"x-traceparent: a\r\n", 0},
	    {"traceparent-x: a\r\n", 0},
	    {"traceparen: a\r\n", 0},
	    {"traceparents: a\r\n", 0},
	    {"tracestat: a\r\n", 0},
	    {"upgrades: a\r\n", 0},
	    {"upgrad: a\r\n", 0},
	    {"Upgrade-Insecure-Requests: 1\r\n", 0},
	    {"a: traceparent: b\r\n", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		begin("GET / HTTP/1.1\r\n");
		put(lines[i].line);
		put("\r\n");
		if (flags() != lines[i].flags)
			fail_msg("flags %#x of: %s", flags(), lines[i].line);
	}
}

/* What is shown of the fields' values, their names as one letter. */
static void values_are_shown_however_they_are_cut(void **state)
{
	static const char shown[] = "i4bf92f35 77p00-as(b) i";

	(void)state;
	begin("GET / HTTP/1.1\r\nx-request-ids: a\r\nX-Request-ID:\t 4bf92f35 77\r\n"
	      "x-request-i: b\r\ntraceparent: 00-a\r\nTRACESTATE:(b) \r\nx-request-id:\r\n\r\n");
	for (size_t cut = 0; cut < used; cut++) {
		blank(cut);
		assert_int_equal(run.values_len, strlen(shown));
		assert_memory_equal(run.values, shown, strlen(shown));
	}
}

static void a_field_is_found_after_a_kilobyte_of_others(void **state)
{
	(void)state;
	for (size_t before = 1000; before < 1100; before++) {
		begin("GET / HTTP/1.1\r\n");
		put_filler(before);
		put("traceparent: a\r\n");
		put_filler(2000);
		put("\r\n");
		assert_int_equal(flags(), HTTP1_TRACEPARENT);
	}
}

static void a_field_is_found_however_it_is_cut(void **state)
{
	(void)state;
	begin("GET / HTTP/1.1\r\nHost: a\r\nTraceparent: b\r\nAccept: c\r\n\r\n");
	for (size_t cut = 1; cut < used; cut++) {
		const struct run_mark *mark = blank(cut);

		assert_non_null(mark);
		assert_int_equal(mark->flags, HTTP1_TRACEPARENT);
	}
}

static void a_body_or_a_trailer_has_no_fields(void **state)
{
	(void)state;
	begin("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
	      "10\r\n\r\ntraceparent: a\r\n0\r\ntraceparent: a\r\n\r\n");
	blank(0);
	assert_non_null(find(PROTOCOL_END));
	assert_int_equal(find(PROTOCOL_END)->flags & HTTP1_TRACEPARENT, 0);
}

static void the_next_head_starts_without_flags(void **state)
{
	(void)state;
	begin("HEAD / HTTP/1.0\r\ntraceparent: a\r\nupgrade: b\r\nContent-Length: 0\r\n\r\n"
	      "GET / HTTP/1.1\r\n\r\n");
	blank(0);
	assert_int_equal(run.marks[run.count - 1].event, PROTOCOL_END);
	assert_int_equal(run.marks[run.count - 1].flags, 0);
}

static void a_request_line_may_be_long(void **state)
{
	(void)state;
	for (size_t len = 1000; len < 1050; len++) {
		begin("GET /");
		for (size_t i = 0; i < len; i++)
			put("x");
		put(" HTTP/1.1\r\nHost: a\r\n\r\n");
		assert_non_null(blank(0));
		assert_int_equal(find(PROTOCOL_LINE)->at, len + strlen("GET / HTTP/1.1\r\n"));
	}
}

static void the_blank_line_is_known_before_its_lf(void **state)
{
	(void)state;
	begin("GET / HTTP/1.1\r\nHost: a\r\n\r");
	assert_non_null(blank(0));
	assert_int_equal(find(PROTOCOL_BLANK)->at, used - 1);
	assert_null(find(PROTOCOL_HEAD));
}

/* A head whose lines come to `len` bytes, with the CR of the blank line. */
static void put_head(size_t len)
{
	begin("GET / HTTP/1.1\r\n");
	while (len - used > 2000)
		put_filler(1000);
	put_filler(len - used - 1);
	put("\r\n");
}

static void a_long_head_is_marked_and_framed(void **state)
{
	(void)state;
	put_head(HTTP1_HEAD_CAP);
	assert_int_equal(flags(), 0);
	put_head(HTTP1_HEAD_CAP + 1);
	for (size_t cut = 1; cut < used; cut += 997) {
		assert_non_null(blank(cut));
		assert_int_equal(find(PROTOCOL_BLANK)->flags, HTTP1_HEAD_LONG);
		assert_non_null(find(PROTOCOL_END));
	}
}

static void heads_are_counted_one_by_one(void **state)
{
	char again[48 * 1024];

	(void)state;
	put_head(sizeof(again) / 2);
	put("\n");
	memcpy(again, stream, used + 1);
	put(again);
	put(again);
	assert_int_equal(flags(), 0);
	assert_int_equal(run.marks[run.count - 1].event, PROTOCOL_END);
	assert_int_equal(run.marks[run.count - 1].flags, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_field_is_found_in_any_case),
	    cmocka_unit_test(each_field_has_its_flag),
	    cmocka_unit_test(values_are_shown_however_they_are_cut),
	    cmocka_unit_test(a_field_is_found_after_a_kilobyte_of_others),
	    cmocka_unit_test(a_field_is_found_however_it_is_cut),
	    cmocka_unit_test(a_body_or_a_trailer_has_no_fields),
	    cmocka_unit_test(the_next_head_starts_without_flags),
	    cmocka_unit_test(a_request_line_may_be_long),
	    cmocka_unit_test(the_blank_line_is_known_before_its_lf),
	    cmocka_unit_test(a_long_head_is_marked_and_framed),
	    cmocka_unit_test(heads_are_counted_one_by_one),
	};

	return cmocka_run_group_tests_name("framing: fields", tests, NULL, NULL);
}
