// SPDX-License-Identifier: Apache-2.0
/*
 * Reading a traceparent: the cases of the W3C's own test suite, every cut of a value, and random
 * values against a reader that is simple enough to be believed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "traceparent.h"

#define SEEDS 200000
/* What one step of the framing shows of a value. */
#define PIECE_MAX 64

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN  "b7ad6b7169203331"

/* A piece of a value passes, as in the packet path. */
static void feed(struct traceparent_text *text, const char *piece, size_t n)
{
	__u32 wants = traceparent_wants(text, n);

	memcpy(text->byte + text->len, piece, wants);
	text->len += wants;
	for (size_t i = wants; i < n; i++)
		traceparent_excess(text, piece[i]);
}

/* The whole value, cut at `cut`, in pieces no longer than `most`. */
static int read_cut(const char *value, size_t cut, size_t most, struct traceparent *ret)
{
	size_t len = strlen(value), ends[] = {cut, len}, at = 0;
	struct traceparent_text text = {};

	for (size_t i = 0; i < 2; i++) {
		while (at < ends[i]) {
			size_t n = ends[i] - at > most ? most : ends[i] - at;

			feed(&text, value + at, n);
			at += n;
		}
	}
	return traceparent_read(&text, ret);
}

static int read_whole(const char *value, struct traceparent *ret)
{
	return read_cut(value, 0, PIECE_MAX, ret);
}

static const char *const valid[] = {
    "00-" TRACE "-" SPAN "-01",
    "00-" TRACE "-" SPAN "-00",
    "00-" TRACE "-" SPAN "-ff",
    "00-" TRACE "-" SPAN "-01 ",
    "00-" TRACE "-" SPAN "-01\t  \t",
    /* A higher version may be longer, if a dash follows. */
    "cc-" TRACE "-" SPAN "-01",
    "cc-" TRACE "-" SPAN "-01 ",
    "cc-" TRACE "-" SPAN "-01-what-the-future-will-be-like",
    "cc-" TRACE "-" SPAN "-01-",
    "01-" TRACE "-" SPAN "-09",
    "fe-" TRACE "-" SPAN "-01-0",
    "00-0000000000000000000000000000000a-000000000000000b-01",
};

static const char *const invalid[] = {
    "",
    "-",
    "00",
    "00-" TRACE "-" SPAN,
    "00-" TRACE "-" SPAN "-",
    "00-" TRACE "-" SPAN "-0",
    "00-" TRACE "-" SPAN "-1",
    "00-" TRACE "-" SPAN "-001",
    "00-" TRACE "-" SPAN "-01.",
    "00-" TRACE "-" SPAN "-01-",
    "00-" TRACE "-" SPAN "-01-what-the-future-will-be-like",
    "00-" TRACE "-" SPAN "-01 x",
    "00-" TRACE "-" SPAN "-01,00-" TRACE "-" SPAN "-01",
    "cc-" TRACE "-" SPAN "-01.what-the-future-will-not-be-like",
    "cc-" TRACE "-" SPAN "-01 -",
    "cc-" TRACE "-" SPAN "-0",
    "ff-" TRACE "-" SPAN "-01",
    "0-" TRACE "-" SPAN "-01",
    "000-" TRACE "-" SPAN "-01",
    ".0-" TRACE "-" SPAN "-01",
    "0.-" TRACE "-" SPAN "-01",
    "CC-" TRACE "-" SPAN "-01",
    "00-00000000000000000000000000000000-" SPAN "-01",
    "00-" TRACE "-0000000000000000-01",
    "00-.af7651916cd43dd8448eb211c80319c-" SPAN "-01",
    "00-0af7651916cd43dd8448eb211c80319.-" SPAN "-01",
    "00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01",
    "00-af7651916cd43dd8448eb211c80319c-" SPAN "-01",
    "00-00af7651916cd43dd8448eb211c80319c-" SPAN "-01",
    "00-" TRACE "-B7AD6B7169203331-01",
    "00-" TRACE "-b7ad6b716920333-01",
    "00-" TRACE "-b7ad6b71692033311-01",
    "00-" TRACE "-.7ad6b7169203331-01",
    "00-" TRACE "-b7ad6b716920333.-01",
    "00-" TRACE "-" SPAN "-.0",
    "00-" TRACE "-" SPAN "-0.",
    "00-" TRACE "-" SPAN "-0A",
    "00_" TRACE "-" SPAN "-01",
    "00-" TRACE "_" SPAN "-01",
    "00-" TRACE "-" SPAN "_01",
    "00 " TRACE " " SPAN " 01",
    "\"00-" TRACE "-" SPAN "-01\"",
    "00-" TRACE "-" SPAN "-0\xb1",
    "00-" TRACE "-" SPAN "-0\x7f",
};

static void the_cases_of_the_w3c(void **state)
{
	struct traceparent got;

	(void)state;
	for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++)
		if (read_whole(valid[i], &got))
			fail_msg("\"%s\" is valid", valid[i]);
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		if (!read_whole(invalid[i], &got))
			fail_msg("\"%s\" is not valid", invalid[i]);
}

static void the_ids_and_the_flags(void **state)
{
	static const __u8 trace[16] = {0x0a, 0xf7, 0x65, 0x19, 0x16, 0xcd, 0x43, 0xdd,
				       0x84, 0x48, 0xeb, 0x21, 0x1c, 0x80, 0x31, 0x9c};
	static const __u8 span[8] = {0xb7, 0xad, 0x6b, 0x71, 0x69, 0x20, 0x33, 0x31};
	struct traceparent got;

	(void)state;
	assert_int_equal(read_whole("00-" TRACE "-" SPAN "-e5", &got), 0);
	assert_memory_equal(got.trace_id, trace, sizeof(trace));
	assert_memory_equal(got.span_id, span, sizeof(span));
	assert_int_equal(got.flags, 0xe5);
}

static void every_cut(void **state)
{
	struct traceparent whole, got;

	(void)state;
	for (size_t i = 0; i < sizeof(valid) / sizeof(valid[0]); i++) {
		assert_int_equal(read_whole(valid[i], &whole), 0);
		for (size_t cut = 0; cut <= strlen(valid[i]); cut++) {
			for (size_t most = 1; most <= PIECE_MAX; most += 7) {
				memset(&got, 0, sizeof(got));
				got.reserved[0] = whole.reserved[0];
				assert_int_equal(read_cut(valid[i], cut, most, &got), 0);
				assert_memory_equal(&got, &whole,
						    offsetof(struct traceparent, reserved));
			}
		}
	}
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		for (size_t cut = 0; cut <= strlen(invalid[i]); cut++)
			assert_int_equal(read_cut(invalid[i], cut, PIECE_MAX, &got), -1);
}

static void every_byte_at_every_place(void **state)
{
	static const char model[] = "00-" TRACE "-" SPAN "-01";
	struct traceparent got;
	char value[sizeof(model)];

	(void)state;
	for (size_t at = 0; at < sizeof(model) - 1; at++) {
		bool dash = model[at] == '-';

		for (int byte = 1; byte < 256; byte++) {
			bool digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');

			memcpy(value, model, sizeof(model));
			value[at] = (char)byte;
			assert_int_equal(read_whole(value, &got),
					 (dash ? byte == '-' : digit) ? 0 : -1);
		}
	}
}

/* Two digits of `text`; -1: they are none. */
static int two_digits(const char *text)
{
	static const char digits[] = "0123456789abcdef";
	const char *high = text[0] ? strchr(digits, text[0]) : NULL;
	const char *low = high && text[1] ? strchr(digits, text[1]) : NULL;

	return low ? (int)((high - digits) * 16 + (low - digits)) : -1;
}

/* `n` bytes as digits. Returns whether they are, and not all of them zero. */
static bool simple_id(const char *text, __u8 *ret_id, size_t n)
{
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		int byte = two_digits(text + 2 * i);

		if (byte < 0)
			return false;
		ret_id[i] = (__u8)byte;
		any |= byte != 0;
	}
	return any;
}

/* The specification, word by word. */
static bool simple_read(const char *field, struct traceparent *ret)
{
	char value[256] = {};
	size_t len = strlen(field);
	int version, flags;

	while (len && strchr(" \t", field[len - 1]))
		len--;
	memcpy(value, field, len);
	if (len < 55 || value[2] != '-' || value[35] != '-' || value[52] != '-')
		return false;
	version = two_digits(value);
	flags = two_digits(value + 53);
	if (version < 0 || version == 0xff || flags < 0)
		return false;
	if (!simple_id(value + 3, ret->trace_id, 16) || !simple_id(value + 36, ret->span_id, 8))
		return false;
	ret->flags = (__u8)flags;
	return len == 55 || (version && value[55] == '-');
}

/* A value that is right but for a few changes. */
static void draw(struct random *r, char *value)
{
	static const char odd[] = "0f9aAgG-- \t.,\x7f\xb0:";

	strcpy(value, valid[random_in(r, 0, sizeof(valid) / sizeof(valid[0]) - 1)]);
	for (uint32_t n = random_in(r, 0, 3); n; n--) {
		uint32_t at = random_in(r, 0, strlen(value) - 1);
		char byte = odd[random_in(r, 0, sizeof(odd) - 2)];

		if (random_once_in(r, 4))
			memmove(value + at, value + at + 1, strlen(value + at));
		else if (random_once_in(r, 3))
			memmove(value + at + 1, value + at, strlen(value + at) + 1);
		value[at] = value[at] ? byte : 0;
	}
}

static void as_the_simple_reader_says(void **state)
{
	unsigned int read = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random r = {.state = seed};
		struct traceparent got = {}, want = {};
		char value[256];
		bool is_valid;

		draw(&r, value);
		if (strchr(" \t", value[0]))
			continue; /* the framing has passed over these */
		is_valid = simple_read(value, &want);
		read += is_valid;
		if (read_cut(value, random_in(&r, 0, strlen(value)), PIECE_MAX, &got) !=
			(is_valid ? 0 : -1) ||
		    (is_valid && memcmp(&got, &want, offsetof(struct traceparent, reserved))))
			fail_msg("seed %llu: \"%s\" is %svalid, or reads differently",
				 (unsigned long long)seed, value, is_valid ? "" : "not ");
	}
	/* Both kinds came up. */
	assert_in_range(read, SEEDS / 10, SEEDS - SEEDS / 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_cases_of_the_w3c),
	    cmocka_unit_test(the_ids_and_the_flags),
	    cmocka_unit_test(every_cut),
	    cmocka_unit_test(every_byte_at_every_place),
	    cmocka_unit_test(as_the_simple_reader_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
