// SPDX-License-Identifier: Apache-2.0
/* Names of strangers in a picture: text, of UTF-8, whatever bytes they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/draw/flame.h"
#include "profile/draw/flame_svg.h"

static void check_text(const char *text, const char *wanted)
{
	char written[256] = "";
	FILE *out = fmemopen(written, sizeof(written), "w");

	assert_non_null(out);
	flame_svg_text(text, out);
	fclose(out);
	assert_string_equal(written, wanted);
}

static void test_markup(void **state)
{
	(void)state;
	check_text("</title><script x=\"&\">", "&lt;/title&gt;&lt;script x=&quot;&amp;&quot;&gt;");
}

static void test_characters(void **state)
{
	(void)state;
	check_text("\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x94\xa5");
	check_text("\xef\xbf\xbd", "\xef\xbf\xbd");
}

static void test_empty(void **state)
{
	const struct flame root = {.name = "all"};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	flame_write_svg(&root, FLAME_NS, "nothing", out);
	fclose(out);
	assert_non_null(strstr(text, ">nothing</text>"));
	assert_null(strstr(text, "data-w="));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_markup),
	    cmocka_unit_test(test_characters),
	    cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
