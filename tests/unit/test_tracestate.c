// SPDX-License-Identifier: Apache-2.0
/*
 * tracestate: the cases of the W3C's own test suite, and random lists against a reader that is
 * simple enough to be believed.
 */
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "tracestate.h"

#define SEEDS     50000
#define VALUE_MAX 4096

/* The value of a finished line. All of it is checked to the byte. */
static void read_line(const struct tracestate *t, char *ret_value)
{
	const char *line = (const char *)t->byte + t->start, *value = line + TRACESTATE_NAME_LEN;
	size_t len = t->len - TRACESTATE_NAME_LEN - 2;

	assert_int_equal(t->len % 2, 0);
	assert_memory_equal(line, "tracestate: ", TRACESTATE_NAME_LEN);
	assert_memory_equal(line + t->len - 2, "\r\n", 2);
	for (__u32 i = t->len; i % 8; i++)
		assert_int_equal(line[i], 0); /* whole words are summed up */
	assert_in_range(t->start + (t->len + 7) / 8 * 8, 1, sizeof(t->byte));
	/* A second blank before the value makes an odd length even; nothing stands behind it. */
	if (*value == ' ') {
		value++;
		len--;
		assert_int_equal(len % 2, 1);
	}
	assert_null(strchr(" \t,", value[0]));
	assert_null(strchr(" \t,", value[len - 1]));
	memcpy(ret_value, value, len);
	ret_value[len] = 0;
}

/* Run over a value; fields are separated by a newline. Returns what would be sent on, or "". */
static const char *pass(const char *fields, bool *ret_invalid)
{
	static char sent[TRACESTATE_VALUE_MAX + 1];
	struct tracestate t = {};
	bool first = true;
	__u32 len;

	for (const char *c = fields; *c; c++) {
		if (*c == '\n') {
			first = true;
			continue;
		}
		if (first)
			tracestate_feed(&t, ',');
		first = false;
		tracestate_feed(&t, *c);
	}
	len = tracestate_finish(&t);
	*ret_invalid = t.phase == TRACESTATE_INVALID;
	sent[0] = 0;
	if (!len)
		return sent;
	assert_int_equal(len, t.len);
	read_line(&t, sent);
	return sent;
}

/* `n` members, each with the value `v`. */
static const char *members(unsigned int n, const char *v)
{
	static char text[VALUE_MAX];
	size_t len = 0;

	for (unsigned int i = 0; i < n; i++)
		len += snprintf(text + len, sizeof(text) - len, "%sk%02u=%s", i ? "," : "", i, v);
	return text;
}

static void goes_on_as(const char *fields, const char *want)
{
	bool invalid;
	const char *got = pass(fields, &invalid);

	if (invalid || strcmp(got, want))
		fail_msg("\"%s\" goes on as \"%s\"%s, not \"%s\"", fields, got,
			 invalid ? " (invalid)" : "", want);
}

static void is_dropped(const char *fields)
{
	bool invalid;
	const char *got = pass(fields, &invalid);

	if (!invalid || *got)
		fail_msg("\"%s\" goes on as \"%s\"", fields, got);
}

static void what_is_valid_goes_on_unchanged(void **state)
{
	static const char *const same[] = {
	    "foo=1",
	    "foo=1,bar=2",
	    "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
	    "foo=1 \t , \t bar=2, \t baz=3",
	    "foo=1,,,bar=2",
	    "foo=1, ,bar=2",
	    "0=1,9key=2",
	    "foo@bar=1",
	    "foo@=1,foo@@bar=1,foo@bar@baz=1", /* Level 2 has no rules for @ any more */
	    "a-b_c*d/e=1",
	    "foo= 1",
	    "foo=1 2 3",
	    "foo=1,foo=2", /* a key twice: kept as it is */
	    "foo=!\"#$%&'()*+-./0123456789:;<>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcxyz{|}~",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		goes_on_as(same[i], same[i]);
	goes_on_as(members(32, "v"), members(32, "v"));
}

static void blanks_and_commas_around_it_do_not(void **state)
{
	(void)state;
	goes_on_as("foo=1 ", "foo=1");
	goes_on_as("foo=1\t", "foo=1");
	goes_on_as(" , \tfoo=1", "foo=1");
	goes_on_as("foo=1,", "foo=1");
	goes_on_as("foo=1 , , ", "foo=1");
	goes_on_as("", "");
	goes_on_as(" ", "");
	goes_on_as(",,", "");
}

static void several_fields_are_one_list(void **state)
{
	(void)state;
	goes_on_as("foo=1\nbar=2", "foo=1,bar=2");
	goes_on_as("foo=1,bar=2\nrojo=1,congo=2\nbaz=3", "foo=1,bar=2,rojo=1,congo=2,baz=3");
	goes_on_as("\nfoo=1\n\nbar=2\n", "foo=1,bar=2");
	goes_on_as("foo=1 \nbar=2", "foo=1 ,bar=2");
	is_dropped("foo=1\nBAR=2");
	is_dropped("foo\n=1");
}

static void what_is_not_valid_is_dropped(void **state)
{
	static const char *const bad[] = {
	    "foo",     "foo=",       "=1",        "=",         "foo =1",    "FOO=1",
	    "foo.b=1", "foo=,bar=3", "foo=b=c",   "foo=1;b=2", "foo= ",     "foo=\t1",
	    "_a=1",    "@a=1",       "-a=1",      "foo=1\tb",  "foo\t=1",   "foo=\xc3\xa4",
	    "f\xc3=1", "foo=\x7f",   "foo=1\x01", "foo,bar=1", "foo=1,bar", "foo=1,=2",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		is_dropped(bad[i]);
	is_dropped(members(33, "v"));
}

static void lengths(void **state)
{
	char key[300] = {}, value[600] = {}, text[VALUE_MAX];

	(void)state;
	memset(key, 'k', 256);
	memset(value, 'v', 255);
	snprintf(text, sizeof(text), "%s=%s", key, value);
	goes_on_as(text, text); /* 512 characters */
	snprintf(text, sizeof(text), "%s=%sv", key, value);
	goes_on_as(text, ""); /* valid, but no whole member is left */
	snprintf(text, sizeof(text), "a=1,%s=%s", key, value);
	goes_on_as(text, "a=1");
	key[256] = 'k';
	snprintf(text, sizeof(text), "%s=1", key);
	is_dropped(text);
	memset(value, 'v', 256);
	snprintf(text, sizeof(text), "a=%s", value);
	goes_on_as(text, text);
	value[256] = 'v';
	snprintf(text, sizeof(text), "a=%s", value);
	is_dropped(text);
	/* No part of a member goes on. */
	goes_on_as(members(32, "01234567890"), members(32, "01234567890"));
	snprintf(text, sizeof(text), "%s", members(25, "012345678901234"));
	goes_on_as(members(32, "012345678901234"), text);
}

static regex_t key_form, value_form;

/* The place behind the last member that is complete within `most` characters; -1: not valid. */
static long simple_list(const char *list, size_t most)
{
	static char member[VALUE_MAX];
	size_t count = 0, whole = 0;

	for (const char *at = list; *at;) {
		const char *end = at + strcspn(at, ","), *from = at;
		size_t len;
		char *equals;

		at = *end ? end + 1 : end;
		from += strspn(from, " \t");
		while (end > from && strchr(" \t", end[-1]))
			end--;
		if (end <= from)
			continue;
		len = (size_t)(end - from);
		memcpy(member, from, len);
		member[len] = 0;
		equals = strchr(member, '=');
		if (!equals || ++count > 32)
			return -1;
		*equals = 0;
		if (regexec(&key_form, member, 0, NULL, 0) ||
		    regexec(&value_form, equals + 1, 0, NULL, 0))
			return -1;
		if ((size_t)(end - list) <= most)
			whole = (size_t)(end - list);
	}
	return (long)whole;
}

static void draw(struct random *r, char *list)
{
	static const char *const parts[] = {
	    "a=1", "foo=bar", "k@v=x y", " ",    "\t",    ",",    "a=", "=1",  "A=1",     "9=9",
	    "b=~", "b=\t",    "c= 1",    "d=1 ", "e=1\t", "f=1=", "g",  "h=,", "k*/_-=;", "é=1"};
	uint32_t n = random_in(r, 0, random_once_in(r, 3) ? 45 : 5);
	uint32_t kinds = random_once_in(r, 2) ? 6 : sizeof(parts) / sizeof(parts[0]);
	size_t len = 0;

	list[0] = 0;
	for (uint32_t i = 0; i < n && len < VALUE_MAX - 700; i++) {
		len += sprintf(list + len, "%s%s", parts[random_in(r, 0, kinds - 1)],
			       random_once_in(r, 10) ? "" : ",");
		if (random_once_in(r, 12)) {
			len += sprintf(list + len, "long=");
			for (uint32_t more = random_in(r, 200, 260); more; more--)
				list[len++] = 'x';
			len += sprintf(list + len, ",");
		}
	}
}

static void as_the_simple_reader_says(void **state)
{
	static char list[VALUE_MAX], want[VALUE_MAX];
	unsigned int cut = 0, whole = 0, bad = 0;

	(void)state;
	assert_int_equal(regcomp(&key_form, "^[a-z0-9][a-z0-9_*/@-]{0,255}$", REG_EXTENDED), 0);
	assert_int_equal(regcomp(&value_form, "^[ -+.-<>-~-]{0,255}[!-+.-<>-~-]$", REG_EXTENDED),
			 0);
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct random r = {.state = seed};
		const char *start, *got;
		bool invalid;
		long len;

		draw(&r, list);
		start = list + strspn(list, " \t,");
		len = simple_list(start, TRACESTATE_VALUE_MAX);
		snprintf(want, sizeof(want), "%.*s", len > 0 ? (int)len : 0, start);
		got = pass(list, &invalid);
		if (invalid != (len < 0) || strcmp(got, want))
			fail_msg("seed %llu: \"%s\" goes on as \"%s\"%s, not \"%s\"",
				 (unsigned long long)seed, list, got, invalid ? " (invalid)" : "",
				 len < 0 ? "(invalid)" : want);
		bad += len < 0;
		whole += len > 0;
		cut += len > 0 && strlen(start) > TRACESTATE_VALUE_MAX;
	}
	regfree(&key_form);
	regfree(&value_form);
	/* All kinds came up. */
	assert_in_range(bad, SEEDS / 20, SEEDS);
	assert_in_range(whole, SEEDS / 20, SEEDS);
	assert_in_range(cut, SEEDS / 1000, SEEDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_valid_goes_on_unchanged),
	    cmocka_unit_test(blanks_and_commas_around_it_do_not),
	    cmocka_unit_test(several_fields_are_one_list),
	    cmocka_unit_test(what_is_not_valid_is_dropped),
	    cmocka_unit_test(lengths),
	    cmocka_unit_test(as_the_simple_reader_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
