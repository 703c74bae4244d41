// SPDX-License-Identifier: Apache-2.0
/* Heads as llhttp reads them (http/http1/head.h). */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "http/http1/head.h"

static char seen[4096];

static void on_head(void *data, const struct head *head, uint64_t at)
{
	size_t used = strlen(seen);

	(void)data;
	if (head->kind == HEAD_REQUEST)
		used +=
		    sprintf(seen + used, "[%s %s 1.%u", head->method, head->target, head->minor);
	else
		used += sprintf(seen + used, "[%u 1.%u", head->status, head->minor);
	for (size_t i = 0; i < head->count && i < 8; i++)
		used += sprintf(seen + used, "|%s=%s", head->fields[i].name, head->fields[i].value);
	sprintf(seen + used, "%s]%u", head->truncated ? "|..." : "", (unsigned)at);
}

static void on_end(void *data, uint64_t at)
{
	(void)data;
	sprintf(seen + strlen(seen), ".%u ", (unsigned)at);
}

static struct head_reader *begin(enum head_kind kind)
{
	static const struct head_handler handler = {.head = on_head, .end = on_end};
	struct head_reader *reader = NULL;

	seen[0] = 0;
	assert_int_equal(head_reader_new(kind, &handler, &reader), 0);
	return reader;
}

/* What is seen of the stream, cut at each byte. */
static void check(enum head_kind kind, const char *stream, const char *expected, int result)
{
	for (size_t cut = 0; cut <= strlen(stream); cut++) {
		struct head_reader *reader = begin(kind);
		int err = head_reader_feed(reader, stream, cut);

		err = err ? err : head_reader_feed(reader, stream + cut, strlen(stream) - cut);
		assert_int_equal(err, result);
		assert_string_equal(seen, expected);
		if (!result)
			assert_int_equal(head_reader_offset(reader), strlen(stream));
		head_reader_free(reader);
	}
}

static void requests(void **state)
{
	(void)state;
	check(HEAD_REQUEST,
	      "GET /a?b HTTP/1.1\r\nHost: h\r\nEmpty:\r\nX:  y z \t\r\n\r\n"
	      "POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc",
	      "[GET /a?b 1.1|Host=h|Empty=|X=y z]49.49 [POST / 1.0|Content-Length=3]87.90 ", 0);
}

static void chunks_and_trailers(void **state)
{
	(void)state;
	check(HEAD_REQUEST,
	      "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nT: u\r\n\r\n",
	      "[PUT / 1.1|Transfer-Encoding=chunked]46.63 ", 0);
}

static void responses(void **state)
{
	(void)state;
	check(HEAD_RESPONSE,
	      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n"
	      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab",
	      "[100 1.1]25.25 [304 1.1|Content-Length=9]64.64 "
	      "[200 1.1|Content-Length=2|Connection=close]121.123 ",
	      0);
}

static void an_upgrade_that_is_only_asked_for(void **state)
{
	(void)state;
	check(
	    HEAD_REQUEST,
	    "GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\nGET /b HTTP/1.1\r\n\r\n",
	    "[GET / 1.1|Connection=upgrade|Upgrade=h2c]53.53 [GET /b 1.1]72.72 ", 0);
}

static void what_is_no_http(void **state)
{
	(void)state;
	check(HEAD_REQUEST, "CONNECT a:1 HTTP/1.1\r\n\r\nxyz", "[CONNECT a:1 1.1]24.24 ",
	      -EOPNOTSUPP);
	check(HEAD_REQUEST, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "", -EOPNOTSUPP);
	check(HEAD_REQUEST, "\x16\x03\x01", "", -EPROTO);
	check(HEAD_RESPONSE, "HTTP/1.1 101 Go\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nyz",
	      "[101 1.1|Connection=upgrade|Upgrade=x]52.52 ", -EOPNOTSUPP);
}

static void an_error_stays(void **state)
{
	struct head_reader *reader = begin(HEAD_REQUEST);

	(void)state;
	assert_int_equal(head_reader_feed(reader, "\x16", 1), -EPROTO);
	assert_true(strlen(head_reader_error(reader)) > 0);
	assert_int_equal(head_reader_feed(reader, "GET / HTTP/1.1\r\n\r\n", 18), -EPROTO);
	assert_string_equal(seen, "");
	head_reader_free(reader);
}

static void an_answer_to_head_has_no_body(void **state)
{
	static const char stream[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
				     "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na";
	struct head_reader *reader = begin(HEAD_RESPONSE);

	(void)state;
	head_reader_expect_no_body(reader);
	assert_int_equal(head_reader_feed(reader, stream, sizeof(stream) - 1), 0);
	assert_string_equal(seen, "[200 1.1|Content-Length=5]38.38 "
				  "[200 1.1|Content-Length=1]76.77 ");
	head_reader_free(reader);
}

/* A field of a million bytes, and a thousand fields: kept as far as there is room. */
static void large_heads_are_cut_short(void **state)
{
	struct head_reader *reader = begin(HEAD_REQUEST);

	(void)state;
	head_reader_feed(reader, "GET / HTTP/1.1\r\nA: b\r\nLong: ", 28);
	for (int i = 0; i < 1000000; i++)
		assert_int_equal(head_reader_feed(reader, "x", 1), 0);
	assert_int_equal(head_reader_feed(reader, "\r\n\r\n", 4), 0);
	assert_string_equal(seen, "[GET / 1.1|A=b|...]1000032.1000032 ");
	seen[0] = 0;
	head_reader_feed(reader, "GET / HTTP/1.1\r\n", 16);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(head_reader_feed(reader, "A:b\r\n", 5), 0);
	assert_int_equal(head_reader_feed(reader, "\r\n", 2), 0);
	assert_string_equal(seen,
			    "[GET / 1.1|A=b|A=b|A=b|A=b|A=b|A=b|A=b|A=b|...]1005050.1005050 ");
	head_reader_free(reader);
}

static void fields_are_found_by_name(void **state)
{
	static const struct head_field fields[] = {{"Host", "a"}, {"X", "b"}, {"x", "c"}};
	struct head head = {.fields = fields, .count = 3};

	(void)state;
	assert_string_equal(head_field(&head, "hOST"), "a");
	assert_string_equal(head_field(&head, "x"), "b");
	assert_null(head_field(&head, "Hos"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(requests),
	    cmocka_unit_test(chunks_and_trailers),
	    cmocka_unit_test(responses),
	    cmocka_unit_test(an_upgrade_that_is_only_asked_for),
	    cmocka_unit_test(what_is_no_http),
	    cmocka_unit_test(an_error_stays),
	    cmocka_unit_test(an_answer_to_head_has_no_body),
	    cmocka_unit_test(large_heads_are_cut_short),
	    cmocka_unit_test(fields_are_found_by_name),
	};

	return cmocka_run_group_tests_name("heads", tests, NULL, NULL);
}
