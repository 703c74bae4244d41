// SPDX-License-Identifier: Apache-2.0
/* Texts of others on their way in: what they are afterwards, and where they are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/text.h"

#define R "\xef\xbf\xbd" /* U+FFFD */

static void check(const char *text, const char *wanted)
{
	char *copy = foreign_dup(text), *again;

	assert_non_null(copy);
	assert_string_equal(copy, wanted);
	again = foreign_dup(copy);
	assert_string_equal(again, copy);
	free(again);
	free(copy);
}

static void what_is_shown_stays(void **state)
{
	(void)state;
	check("", "");
	check("/plain?a=b;c d", "/plain?a=b;c d");
	check("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
	check("\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80");
}

static void what_is_no_utf8_is_replaced(void **state)
{
	(void)state;
	check("/\xc0.\xc0./winnt/win.ini", "/" R "." R "./winnt/win.ini");
	check("a\x80z\xff", "a" R "z" R);
	check("\xc0\xaf", R R);             /* written too long */
	check("\xe0\x9f\xbf", R R R);       /* so is this */
	check("\xed\xa0\x80", R R R);       /* a surrogate */
	check("\xf4\x90\x80\x80", R R R R); /* above U+10FFFF */
	check("\xe2\x82", R R);             /* cut off */
	check("\xf0\x9f\x98\xc3\xa4", R R R "\xc3\xa4");
	check("\xef\xbf\xbe\xef\xbf\xbf", R R); /* no characters of Unicode */
}

static void what_controls_is_replaced(void **state)
{
	(void)state;
	check("a\x1b[2Jb\r\n\tc\x7f", "a" R "[2Jb" R R R "c" R);
	check("\xc2\x80\xc2\x85\xc2\x9b"
	      "2J\xc2\xa0",
	      R R R "2J\xc2\xa0"); /* C1, and the first behind it */
	check("\xe2\x80\xa8\xe2\x80\xa9", R R);
	check("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", R R R);
	check("\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae", R R R R R);
	check("\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", R R R R);
	check("\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xa5", "\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xa5");
}

static void cut_is_between_characters(void **state)
{
	char to[5];

	(void)state;
	foreign_copy(to, sizeof(to), "ab\xff");
	assert_string_equal(to, "ab");
	foreign_copy(to, sizeof(to), "a\xc3\xa4\xc3\xa4");
	assert_string_equal(to, "a\xc3\xa4");
	foreign_copy(to, 1, "a");
	assert_string_equal(to, "");
	text_copy(to, sizeof(to), "a\xf0\x9f\x98\x80");
	assert_string_equal(to, "a");
	text_copy(to, sizeof(to), "\xf0\x9f\x98\x80");
	assert_string_equal(to, "\xf0\x9f\x98\x80");
	text_copy(to, sizeof(to), "abc\xc3\xa4");
	assert_string_equal(to, "abc");
}

/* So many bytes, and none behind them. */
static void bytes(void **state)
{
	char to[16];

	(void)state;
	assert_int_equal(foreign_copy_bytes(to, sizeof(to), "a\0b\xe2\x82\xac", 4), 8);
	assert_string_equal(to, "a" R "b" R);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_is_shown_stays),
	    cmocka_unit_test(what_is_no_utf8_is_replaced),
	    cmocka_unit_test(what_controls_is_replaced),
	    cmocka_unit_test(cut_is_between_characters),
	    cmocka_unit_test(bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
