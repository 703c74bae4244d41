// SPDX-License-Identifier: Apache-2.0
/* Tables of options: what getopt_long() makes of them, which of two counts, and the help. */
#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/option.h"

#define REFUSES 7 /* what a set() may return */

static bool loud, own;
static const char *file, *last, *colour;

static int set_colour(const struct option_row *row, const char *argument)
{
	assert_string_equal(row->name, "color");
	colour = argument;
	return argument && !strcmp(argument, "wrong") ? REFUSES : 0;
}

static const struct option_row rows[] = {
    {"loud", 'l', NULL, "be loud", .flag = &loud},
    {"output", 'o', "FILE", "where to", .text = &file, .given = &last},
    {"color", 0, "[=WHEN]", "a text that is so long that it has to go on in another line",
     .set = set_colour, .given = &last},
    {"hidden", 0, "a|b", NULL, .text = &file},
    {"hidden-before", 0, "WHAT", NULL, .alias = "hidden"},
    {},
};

static const struct option_row common[] = {
    {"own", 'o', NULL, "hidden behind -o of the others", .flag = &own},
    {"color", 'c', NULL, "hidden behind --color of the others", .flag = &own},
    {"quiet", 'q', NULL, "be quiet", .flag = &own},
    {},
};

static struct option_list list;

static int begin(void **state)
{
	(void)state;
	loud = own = false;
	file = last = colour = NULL;
	opterr = 0;
	list = (struct option_list){};
	option_add(&list, rows);
	option_add(&list, common);
	return 0;
}

/* Of a command line with these words; `optind` is behind the options. */
static int reading(bool only_first, const char *one, const char *two, const char *three)
{
	char *argv[] = {(char *)"program", (char *)one, (char *)two, (char *)three, NULL};
	int argc = 1;

	while (argv[argc])
		argc++;
	return option_read(&list, argc, argv, only_first);
}

static void reads(void **state)
{
	(void)state;
	assert_int_equal(reading(false, "-lo", "x", "--color=auto"), 0);
	assert_true(loud);
	assert_string_equal(file, "x");
	assert_string_equal(colour, "auto");
	assert_string_equal(last, "color");
	assert_int_equal(optind, 4);
	assert_int_equal(reading(false, "--hidden", "b", "--color"), 0);
	assert_string_equal(file, "b");
	assert_null(colour);
}

static void knows_other_names(void **state)
{
	(void)state;
	assert_int_equal(reading(false, "--hidden-b", "b", NULL), 0);
	assert_string_equal(file, "b");
	assert_int_equal(reading(false, "--hid", "a", NULL), 0);
	assert_string_equal(file, "a");
}

static void stops_where_it_should(void **state)
{
	(void)state;
	assert_int_equal(reading(true, "word", "-l", NULL), 0);
	assert_false(loud);
	assert_int_equal(optind, 1);
	assert_int_equal(reading(false, "word", "-l", NULL), 0);
	assert_true(loud);
}

static void refuses(void **state)
{
	(void)state;
	assert_int_equal(reading(false, "--color=wrong", "-l", NULL), REFUSES);
	assert_false(loud);
	assert_int_equal(reading(false, "--unknown", NULL, NULL), OPTION_REFUSED);
	assert_int_equal(reading(false, "-o", NULL, NULL), OPTION_REFUSED);
	assert_int_equal(reading(false, "--loud=much", NULL, NULL), OPTION_REFUSED);
}

static void first_one_counts(void **state)
{
	(void)state;
	assert_int_equal(list.count, 6);
	assert_ptr_equal(option_find(&list, "color"), &rows[2]);
	assert_null(option_find(&list, "own"));
	assert_int_equal(reading(false, "-c", NULL, NULL), OPTION_REFUSED);
	assert_int_equal(reading(false, "-q", NULL, NULL), 0);
	assert_true(own);
}

static void helps(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	option_print(stream, &list);
	fclose(stream);
	assert_string_equal(
	    text,
	    "  -l, --loud             be loud\n"
	    "  -o, --output FILE      where to\n"
	    "      --color[=WHEN]     a text that is so long that it has to go on in another\n"
	    "                         line\n"
	    "  -q, --quiet            be quiet\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(reads, begin),
	    cmocka_unit_test_setup(knows_other_names, begin),
	    cmocka_unit_test_setup(stops_where_it_should, begin),
	    cmocka_unit_test_setup(refuses, begin),
	    cmocka_unit_test_setup(first_one_counts, begin),
	    cmocka_unit_test_setup(helps, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
