// SPDX-License-Identifier: Apache-2.0
/* Records in, spans out: each request once, and what is lost is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "reasons.h"
#include "trace/join.h"

#define PID_NEVER 0x7fffffff /* above what Linux gives */
#define SAMPLED   1
#define R         "\xef\xbf\xbd" /* U+FFFD */

/* What came out. */
struct seen {
	struct span span; /* the last one */
	unsigned int count;
	struct join *join;
};

static void on_span(const struct span *span, void *data)
{
	struct seen *seen = data;

	seen->span = *span;
	seen->count++;
}

static int set_up(void **state)
{
	static struct seen seen;

	seen = (struct seen){};
	*state = &seen;
	return join_new(on_span, &seen, &seen.join);
}

static int tear_down(void **state)
{
	join_free(((struct seen *)*state)->join);
	return 0;
}

static struct record_begin begin_of(enum record_kind kind, __u64 id, const char *head)
{
	struct record_begin begin = {.kind = (__u8)kind,
				     .trace_flags = SAMPLED,
				     .head_size = (__u16)strlen(head),
				     .head_start = 1000,
				     .position = 900,
				     .time_ns = 5000,
				     .span_id = id};

	memset(begin.trace_id, 0x11, sizeof(begin.trace_id));
	memcpy(begin.head, head, begin.head_size);
	return begin;
}

static void tell(struct seen *seen, const struct record_begin *begin)
{
	join_record(seen->join, begin, offsetof(struct record_begin, head) + begin->head_size);
}

static void tell_end(struct seen *seen, enum record_kind kind, __u64 id, __u16 status)
{
	const struct record_end end = {.kind = (__u8)kind,
				       .status = status,
				       .request_size = 100,
				       .response_size = 200,
				       .first_ns = 6000,
				       .taken_ns = 5500,
				       .cookie = 77,
				       .time_ns = 7000,
				       .span_id = id};

	join_record(seen->join, &end, sizeof(end));
}

static void a_request(void **state)
{
	struct seen *seen = *state;
	struct record_begin begin = begin_of(RECORD_SERVED, 7,
					     "POST /a/17?key=secret#x HTTP/1.1\r\nhost: h:1\r\n"
					     "User-Agent: u\r\nCookie: c\r\n\r\n");

	tell(seen, &begin);
	assert_int_equal(seen->count, 0);
	assert_int_equal(join_open(seen->join), 1);
	tell_end(seen, RECORD_CALLED_END, 7, 200); /* another side's */
	assert_int_equal(seen->count, 0);
	tell_end(seen, RECORD_SERVED_END, 7, 503);
	assert_int_equal(seen->count, 1);
	assert_string_equal(seen->span.method, "POST");
	assert_string_equal(seen->span.path, "/a/17");
	assert_string_equal(seen->span.route, "/a/{id}");
	assert_string_equal(seen->span.host, "h:1");
	assert_string_equal(seen->span.agent, "u");
	assert_int_equal(seen->span.kind, SPAN_SERVER);
	assert_int_equal(seen->span.status, 503);
	assert_true(span_is_error(&seen->span));
	assert_int_equal(seen->span.start_ns, 5000);
	assert_int_equal(seen->span.first_ns, 6000);
	assert_int_equal(seen->span.taken_ns, 5500);
	assert_int_equal(seen->span.cookie, 77);
	assert_int_equal(seen->span.position, 900);
	assert_int_equal(seen->span.end_ns, 7000);
	assert_int_equal(join_open(seen->join), 0);
	tell_end(seen, RECORD_SERVED_END, 7, 503);
	assert_int_equal(seen->count, 1);
	assert_int_equal(join_counts(seen->join)->beginless, 2);
}

/* A head in three packets, and another connection's in between. */
static void parts(void **state)
{
	struct seen *seen = *state;
	struct record_begin first = begin_of(RECORD_SERVED_PART, 0, "GET /on"),
			    second = begin_of(RECORD_SERVED_PART, 0, "e HTTP/1.1\r\nHo"),
			    last = begin_of(RECORD_SERVED, 7, "st: here\r\n\r\n"),
			    other = begin_of(RECORD_SERVED_PART, 0, "GET /other HT"),
			    other_last = begin_of(RECORD_SERVED, 9, "TP/1.1\r\n\r\n");

	other.remote_port = other_last.remote_port = 99;
	last.flags = other_last.flags = RECORD_CUT;
	tell(seen, &first);
	tell(seen, &other);
	tell(seen, &second);
	tell(seen, &last);
	tell(seen, &other_last);
	tell_end(seen, RECORD_SERVED_END, 7, 200);
	assert_string_equal(seen->span.path, "/one");
	assert_string_equal(seen->span.host, "here");
	assert_false(seen->span.is_cut);
	tell_end(seen, RECORD_SERVED_END, 9, 200);
	assert_string_equal(seen->span.path, "/other");
}

/* The first piece was lost: nothing is known of the head, and nothing is made up. */
static void part_is_lost(void **state)
{
	struct seen *seen = *state;
	struct record_begin last = begin_of(RECORD_SERVED, 7, "ET /x HTTP/1.1\r\n\r\n");

	last.flags = RECORD_CUT;
	tell(seen, &last);
	tell_end(seen, RECORD_SERVED_END, 7, 200);
	assert_int_equal(seen->count, 1);
	assert_true(seen->span.is_cut);
	assert_string_equal(seen->span.method, "");
	assert_string_equal(seen->span.path, "");
}

/* As long as fits: the target is cut off, and so are fields. */
static void long_heads(void **state)
{
	struct seen *seen = *state;
	char head[RECORD_HEAD_MAX + 1];
	struct record_begin begin;

	memset(head, 'a', RECORD_HEAD_MAX);
	head[RECORD_HEAD_MAX] = '\0';
	memcpy(head, "GET /", 5);
	begin = begin_of(RECORD_SERVED, 7, head);
	tell(seen, &begin);
	tell_end(seen, RECORD_SERVED_END, 7, 200);
	assert_true(seen->span.is_cut);
	assert_string_equal(seen->span.method, "GET");
	assert_memory_equal(seen->span.path, "/aaaa", 5);
}

/* What a program has written itself is what its callee knows. */
static void own_ids(void **state)
{
	struct seen *seen = *state;
	struct record_begin begin =
	    begin_of(RECORD_CALLED, 7,
		     "GET / HTTP/1.1\r\n"
		     "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n");
	static const __u8 trace[] = {0x0a, 0xf7, 0x65, 0x19};
	static const __u8 parent[] = {0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31};

	begin.reason = REASON_PRESENT;
	begin.parent_id[0] = 5;
	tell(seen, &begin);
	tell_end(seen, RECORD_CALLED_END, 7, 404);
	assert_memory_equal(seen->span.trace_id, trace, sizeof(trace));
	assert_memory_equal(&seen->span.parent_id, parent, sizeof(parent));
	assert_true(span_is_error(&seen->span));
}

static void not_sampled(void **state)
{
	struct seen *seen = *state;
	struct record_begin begin = begin_of(RECORD_SERVED, 7, "GET / HTTP/1.1\r\n\r\n");

	begin.trace_flags = 0;
	tell(seen, &begin);
	tell_end(seen, RECORD_SERVED_END, 7, 200);
	assert_int_equal(seen->count, 1); /* somebody may want to count it */
	assert_false(span_is_sampled(&seen->span));
	assert_int_equal(join_counts(seen->join)->unsampled, 1);
}

/* What this process serves is not told, nor is the call of this host that it answers. */
static void own(void **state)
{
	struct seen *seen = *state;
	struct record_begin call = begin_of(RECORD_CALLED, 6, "GET / HTTP/1.1\r\n\r\n");
	struct record_begin other = begin_of(RECORD_CALLED, 8, "GET / HTTP/1.1\r\n\r\n");
	struct record_begin served = begin_of(RECORD_SERVED, 7, "GET / HTTP/1.1\r\n\r\n");
	const struct record_end end = {.kind = RECORD_SERVED_END,
				       .status = 200,
				       .tgid = (__u32)getpid(),
				       .time_ns = 7000,
				       .span_id = 7};

	memcpy(served.parent_id, &call.span_id, sizeof(served.parent_id));
	tell(seen, &call);
	tell(seen, &other);
	tell(seen, &served);
	join_record(seen->join, &end, sizeof(end));
	tell_end(seen, RECORD_CALLED_END, 6, 200);
	assert_int_equal(seen->count, 0);
	tell_end(seen, RECORD_CALLED_END, 8, 200);
	assert_int_equal(seen->count, 1);
	assert_int_equal(seen->span.span_id, 8);
	assert_int_equal(join_counts(seen->join)->own, 2);
}

static void given_up(void **state)
{
	struct seen *seen = *state;

	for (__u64 id = 1; id <= 70000; id++) {
		struct record_begin begin = begin_of(RECORD_SERVED, id, "GET / HTTP/1.1\r\n\r\n");

		begin.time_ns = id;
		tell(seen, &begin);
	}
	assert_int_equal(join_open(seen->join), 65536);
	assert_int_equal(join_counts(seen->join)->endless, 70000 - 65536);
	join_expire(seen->join, 70000);
	assert_int_equal(join_open(seen->join), 1);
	tell_end(seen, RECORD_SERVED_END, 70000, 200);
	assert_int_equal(seen->count, 1);
}

/* Whatever else it may be. */
static void malformed(void **state)
{
	struct seen *seen = *state;
	struct record_begin begin = begin_of(RECORD_SERVED, 7, "GET / HTTP/1.1\r\n\r\n");

	join_record(seen->join, &begin, 4);
	join_record(seen->join, &begin, offsetof(struct record_begin, head) + 3);
	begin.kind = RECORD_KINDS;
	tell(seen, &begin);
	begin.kind = RECORD_CALLED_END;
	join_record(seen->join, &begin, sizeof(struct record_end) - 1);
	assert_int_equal(join_counts(seen->join)->malformed, 4);
	assert_int_equal(join_open(seen->join), 0);
}

/* What was not asked for is not known: no text is there in part. */
static void short_heads(void **state)
{
	static const char head[] =
	    "GET /users/17 HTTP/1.1\r\nhost: shop.example\r\nUser-Agent: u\r\n";
	static const struct {
		__u16 size;
		const char *method, *path, *host, *agent;
	} rows[] = {
	    {0, "", "", "", ""},
	    {2, "", "", "", ""},
	    {12, "GET", "", "", ""},
	    {22, "GET", "", "", ""},
	    {24, "GET", "/users/17", "", ""},
	    {40, "GET", "/users/17", "", ""},
	    {45, "GET", "/users/17", "shop.example", ""}, /* a value ends where a line begins */
	    {sizeof(head) - 1, "GET", "/users/17", "shop.example", ""},
	};
	struct seen *seen = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct record_begin begin = begin_of(RECORD_SERVED, 7 + i, head);

		begin.head_size = rows[i].size;
		begin.flags = RECORD_SHORT;
		join_limit_heads(seen->join, rows[i].size, NULL);
		tell(seen, &begin);
		tell_end(seen, RECORD_SERVED_END, 7 + i, 200);
		assert_int_equal(seen->count, i + 1);
		assert_string_equal(seen->span.method, rows[i].method);
		assert_string_equal(seen->span.path, rows[i].path);
		assert_string_equal(seen->span.host, rows[i].host);
		assert_string_equal(seen->span.agent, rows[i].agent);
	}
}

static void redacted(void **state)
{
	struct redact *redact = redact_new();
	struct record_begin begin = begin_of(
	    RECORD_SERVED, 7,
	    "GET /cards/4111111111111111/x?a HTTP/1.1\r\nhost: h\r\nUser-Agent: me@a.b\r\n\r\n");
	struct seen *seen = *state;
	char why[64];

	assert_non_null(redact);
	assert_int_equal(redact_add(redact, "[0-9]{13,19}", why, sizeof(why)), 0);
	assert_int_equal(redact_add(redact, "[a-z.]+@[a-z.]+", why, sizeof(why)), 0);
	join_limit_heads(seen->join, RECORD_HEAD_MAX, redact);
	tell(seen, &begin);
	tell_end(seen, RECORD_SERVED_END, 7, 200);
	assert_string_equal(seen->span.path, "/cards/{redacted}/x");
	assert_string_equal(seen->span.route, "/cards/{redacted}/x");
	assert_string_equal(seen->span.host, "h");
	assert_string_equal(seen->span.agent, "{redacted}");
	redact_free(redact);
}

/* What was put into a call on this host is no part of the request that its server was sent. */
static void added(void **state)
{
	struct record_begin call = begin_of(RECORD_CALLED, 6, "GET / HTTP/1.1\r\n\r\n");
	struct record_begin served = begin_of(RECORD_SERVED, 7, "GET / HTTP/1.1\r\n\r\n");
	struct seen *seen = *state;

	call.added = 70;
	served.parent_id[0] = 6;
	tell(seen, &call);
	tell(seen, &served);
	tell_end(seen, RECORD_SERVED_END, 7, 200);
	assert_int_equal(seen->span.request_size, 30);
	/* One that only names that call, as any client may. */
	served.position++;
	tell(seen, &served);
	tell_end(seen, RECORD_SERVED_END, 7, 200);
	assert_int_equal(seen->span.request_size, 100);
	tell_end(seen, RECORD_CALLED_END, 6, 200);
	assert_int_equal(seen->span.request_size, 100);
}

/* A process that is gone has the name that it had, and one without a number none. */
static void gone(void **state)
{
	struct record_begin call = begin_of(RECORD_CALLED, 6, "GET / HTTP/1.1\r\n\r\n");
	struct seen *seen = *state;

	call.tgid = PID_NEVER;
	memcpy(call.process.comm, "cu\xffrl", 6);
	tell(seen, &call);
	tell_end(seen, RECORD_CALLED_END, 6, 200);
	assert_string_equal(seen->span.service.name, "cu" R "rl");
	call.tgid = 0;
	tell(seen, &call);
	tell_end(seen, RECORD_CALLED_END, 6, 200);
	assert_string_equal(seen->span.service.name, "");
}

/* The method is any token, whole or not there. */
static void methods(void **state)
{
	static const char *const rows[][3] = {
	    {"get /x HTTP/1.1\r\n\r\n", "get", "/x"},
	    {"R2D2 /x?q HTTP/1.1\r\n\r\n", "R2D2", "/x"},
	    {"X_Y http://h/z HTTP/1.1\r\n\r\n", "X_Y", "/z"},
	    {"OPTIONS * HTTP/1.1\r\n\r\n", "OPTIONS", "*"},
	    {"DESCRIBE /x HTTP/1.1\r\n\r\n", "DESCRIBE", "/x"},
	    {"G@T /x HTTP/1.1\r\n\r\n", "", ""},
	};
	struct seen *seen = *state;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct record_begin begin = begin_of(RECORD_SERVED, 7, rows[i][0]);

		tell(seen, &begin);
		tell_end(seen, RECORD_SERVED_END, 7, 200);
		assert_string_equal(seen->span.method, rows[i][1]);
		assert_string_equal(seen->span.path, rows[i][2]);
	}
}

/* Whatever bytes a request has, a span has texts. */
static void foreign_texts(void **state)
{
	struct record_begin begin =
	    begin_of(RECORD_SERVED, 7,
		     "GET /\xc0.\xc0./winnt/win.ini HTTP/1.1\r\nhost: h\xff\r\n"
		     "User-Agent: a\xc2\x9b"
		     "2J\xe2\x80\xae\r\n\r\n");
	struct seen *seen = *state;

	tell(seen, &begin);
	tell_end(seen, RECORD_SERVED_END, 7, 200);
	assert_string_equal(seen->span.path, "/" R "." R "./winnt/win.ini");
	assert_string_equal(seen->span.route, "/" R "." R "./winnt/win.ini");
	assert_string_equal(seen->span.host, "h" R);
	assert_string_equal(seen->span.agent, "a" R "2J" R);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(a_request), TEST(parts),       TEST(part_is_lost), TEST(long_heads),
	    TEST(own_ids),   TEST(not_sampled), TEST(own),          TEST(given_up),
	    TEST(malformed), TEST(short_heads), TEST(redacted),     TEST(foreign_texts),
	    TEST(added),     TEST(gone),        TEST(methods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
