// SPDX-License-Identifier: Apache-2.0
/* Whatever fits a pattern is replaced, and nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/text.h"
#include "trace/redact.h"

static int set_up(void **state)
{
	*state = redact_new();
	return !*state;
}

static int tear_down(void **state)
{
	redact_free(*state);
	return 0;
}

static void add(struct redact *redact, const char *pattern)
{
	char why[64];

	assert_int_equal(redact_add(redact, pattern, why, sizeof(why)), 0);
}

/* In a buffer of `size` bytes. */
static void becomes(const struct redact *redact, const char *text, size_t size, const char *wanted)
{
	char buffer[128];

	text_copy(buffer, sizeof(buffer), text);
	redact_apply(redact, buffer, size);
	assert_string_equal(buffer, wanted);
}

static void everywhere(void **state)
{
	add(*state, "[0-9]{4}");
	becomes(*state, "/a/b", 128, "/a/b");
	becomes(*state, "", 128, "");
	becomes(*state, "1234", 128, "{redacted}");
	becomes(*state, "/1234/567/8901", 128, "/{redacted}/567/{redacted}");
	becomes(*state, "12345678", 128, "{redacted}{redacted}");
	add(*state, "secret");
	becomes(*state, "/1234/secret/", 128, "/{redacted}/{redacted}/");
}

static void at_the_beginning_only(void **state)
{
	add(*state, "^/a");
	becomes(*state, "/a/a/a", 128, "{redacted}/a/a");
}

/* A match that is empty hides none behind it. */
static void empty_ones(void **state)
{
	add(*state, "\\<|c"); /* where a word begins */
	becomes(*state, "b/c/d", 128, "b/{redacted}/d");
}

static void what_does_not_fit_is_cut(void **state)
{
	add(*state, "[0-9]");
	becomes(*state, "/1/2/end", 16, "/{redacted}/{re");
}

static void no_patterns(void **state)
{
	static const char *const wrong[] = {"(", "[", "a{2", "x*", "^", ""};
	char why[64];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		*why = '\0';
		assert_int_equal(redact_add(*state, wrong[i], why, sizeof(why)), -EINVAL);
		assert_true(strlen(why) > 5);
	}
	for (int i = 0; i < REDACT_MAX; i++)
		add(*state, "x");
	assert_int_equal(redact_add(*state, "x", why, sizeof(why)), -ENOSPC);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(everywhere),  TEST(at_the_beginning_only),
	    TEST(empty_ones),  TEST(what_does_not_fit_is_cut),
	    TEST(no_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
