// SPDX-License-Identifier: Apache-2.0
/* The traceparent writer against printf(), and against the text of the specification. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "traceparent.h"

#define SEEDS 20000

static void random_ids(struct random *r, struct edit *e)
{
	for (size_t i = 0; i < sizeof(e->trace_id); i++)
		e->trace_id[i] = random_next(r);
	for (size_t i = 0; i < sizeof(e->span_id); i++)
		e->span_id[i] = random_next(r);
	e->trace_flags = random_next(r);
}

static int print_hex(char *to, const __u8 *bytes, size_t n)
{
	int len = 0;

	for (size_t i = 0; i < n; i++)
		len += sprintf(to + len, "%02x", bytes[i]);
	return len;
}

static int print_line(char *to, const struct edit *e)
{
	int len = sprintf(to, "traceparent: 00-");

	len += print_hex(to + len, e->trace_id, sizeof(e->trace_id));
	len += sprintf(to + len, "-");
	len += print_hex(to + len, e->span_id, sizeof(e->span_id));
	return len + sprintf(to + len, "-%02x\r\n", e->trace_flags);
}

static void same_bytes_as_printf(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random r = {.state = seed};
		struct edit e = {};
		struct traceparent_line line;
		char want[2 * TRACEPARENT_LINE_LEN] = {};

		random_ids(&r, &e);
		assert_int_equal(print_line(want, &e), TRACEPARENT_LINE_LEN);
		traceparent_write(&line, &e);
		if (memcmp(&line, want, sizeof(line)))
			fail_msg("seed %llu: wrote \"%.*s\", not \"%s\"", (unsigned long long)seed,
				 TRACEPARENT_LINE_LEN, (const char *)&line, want);
	}
}

/* A literal without indexing, the name coded, the value not (RFC 7541, 6.2.2 and appendix B). */
static void field_of_http2(void **state)
{
	static const unsigned char front[] = {0x00, 0x88, 0x4d, 0x83, 0x21, 0x6b,
					      0x1d, 0x85, 0xa9, 0x3f, 0x37};

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random r = {.state = seed};
		struct edit e = {};
		struct traceparent_line line;
		char text[2 * TRACEPARENT_LINE_LEN] = {}, want[sizeof(line)] = {};

		random_ids(&r, &e);
		print_line(text, &e);
		memcpy(want, front, sizeof(front));
		memcpy(want + sizeof(front), strchr(text, ' ') + 1, TRACEPARENT_VALUE_LEN);
		assert_int_equal(sizeof(front) + TRACEPARENT_VALUE_LEN, FIELD_LEN);
		traceparent_write_field(&line, &e);
		assert_memory_equal(&line, want, sizeof(line));
	}
}

static void every_nibble_at_every_place(void **state)
{
	(void)state;
	for (unsigned int value = 0; value < 256; value++) {
		struct edit e = {.trace_flags = value};
		struct traceparent_line line;
		char want[2 * TRACEPARENT_LINE_LEN] = {};

		memset(e.trace_id, value, sizeof(e.trace_id));
		memset(e.span_id, value ^ 0xff, sizeof(e.span_id));
		print_line(want, &e);
		traceparent_write(&line, &e);
		assert_memory_equal(&line, want, sizeof(line));
	}
}

static void example_of_the_specification(void **state)
{
	/* W3C Trace Context Level 2, 3.2: "00-<32>-<16>-<2>", here the ids of its first example. */
	static const char want[] = "traceparent: "
				   "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n";
	struct edit e = {
	    .trace_id = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd, 0x84, 0x48, 0xeb, 0x21,
			 0x1c, 0x80, 0x31, 0x9c},
	    .span_id = {0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31},
	    .trace_flags = TRACEPARENT_SAMPLED,
	};
	struct traceparent_line line;

	(void)state;
	traceparent_write(&line, &e);
	assert_int_equal(sizeof(want) - 1, TRACEPARENT_LINE_LEN);
	assert_memory_equal(&line, want, TRACEPARENT_LINE_LEN);
}

static void nothing_but_zeros_behind_the_line(void **state)
{
	struct edit e = {.trace_flags = 0xff};
	struct traceparent_line line;
	const __u8 *byte = (const __u8 *)&line;

	(void)state;
	memset(e.trace_id, 0xff, sizeof(e.trace_id));
	memset(e.span_id, 0xff, sizeof(e.span_id));
	memset(&line, 0xff, sizeof(line));
	traceparent_write(&line, &e);
	/* The checksum of the line is taken over whole words. */
	for (size_t i = TRACEPARENT_LINE_LEN; i < sizeof(line); i++)
		assert_int_equal(byte[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(same_bytes_as_printf),
	    cmocka_unit_test(field_of_http2),
	    cmocka_unit_test(every_nibble_at_every_place),
	    cmocka_unit_test(example_of_the_specification),
	    cmocka_unit_test(nothing_but_zeros_behind_the_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
