// SPDX-License-Identifier: Apache-2.0
/* Options in a file: what is read of a line, what is refused, and that only right lines count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/option_file.h"

#define TEXT_MAX 256

static bool loud;
static const char *file;
static unsigned int added;
static char said[TEXT_MAX];

static int add(const struct option_row *row, const char *argument)
{
	option_said(row, argument, said, sizeof(said));
	added++;
	return strcmp(argument, "wrong") ? 0 : 7;
}

static const struct option_row rows[] = {
    {"loud", 'l', NULL, "be loud", .flag = &loud},
    {"output", 'o', "FILE", "where to", .text = &file},
    {"out", 0, "FILE", "its former name", .alias = "output"},
    {"add", 'a', "WHAT", "may be repeated", .set = add, .traits = OPTION_REPEATS},
    {"help", 'h', NULL, "help", .flag = &loud, .traits = OPTION_ONLY_WORDS},
    {},
};

/* The values that are kept point into it. */
static char text[TEXT_MAX];
static bool given[OPTION_LIST_MAX];

static int begin(void **state)
{
	(void)state;
	loud = false;
	file = NULL;
	added = 0;
	memset(given, 0, sizeof(given));
	return 0;
}

/* How many lines of these bytes are wrong. */
static unsigned int reading_bytes(const char *bytes, size_t size)
{
	const struct option_file what = {"conf", text, size, given};
	struct option_list list = {};

	assert_true(size < TEXT_MAX);
	memcpy(text, bytes, size);
	text[size] = '\0';
	option_add(&list, rows);
	return option_file_read(&list, &what);
}

static unsigned int reading(const char *lines)
{
	return reading_bytes(lines, strlen(lines));
}

static void reads(void **state)
{
	(void)state;
	assert_int_equal(
	    reading("# first\n\n  loud=yes\r\n\toutput =  a b#c  # rest\nadd = x\nadd=y"), 0);
	assert_true(loud);
	assert_string_equal(file, "a b#c");
	assert_int_equal(added, 2);
	assert_string_equal(said, "conf:6: add = y");
	assert_int_equal(reading(""), 0);
	assert_int_equal(reading("out = z=1"), 0);
	assert_string_equal(file, "z=1");
}

static void says_no(void **state)
{
	(void)state;
	assert_int_equal(reading("loud = no"), 0);
	assert_false(loud);
}

static void refuses(void **state)
{
	static const char *const wrong[] = {
	    "loud",           "loud = on",     "help = yes",      "output =",
	    "output",         "outputs = a",   "Output = a",      "= a",
	    "add = wrong",    "two words = a", "output = # none", "=",
	    "output=a\nout=b"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(reading(wrong[i]), 1);
	assert_false(loud);
	assert_int_equal(reading("loud = on\n\nadd = wrong\nadd = x\nhelp = no"), 3);
	assert_int_equal(reading_bytes("loud = yes\0output", 16), 1);
}

static void leaves_what_is_given(void **state)
{
	(void)state;
	given[1] = true; /* output, by whichever name */
	assert_int_equal(reading("out = x\nloud = yes"), 0);
	assert_null(file);
	assert_true(loud);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(reads, begin),
	    cmocka_unit_test_setup(says_no, begin),
	    cmocka_unit_test_setup(refuses, begin),
	    cmocka_unit_test_setup(leaves_what_is_given, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
