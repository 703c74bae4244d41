// SPDX-License-Identifier: Apache-2.0
/* What readers of names tell, taken apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "profile/names/runtime_text.h"
#include "runtimes/names.h"

static void assert_parts(const char *text, const char *function, const char *file, __u32 line)
{
	struct runtime_text parts;

	assert_true(runtime_text_parse(text, strlen(text) + 1, &parts));
	assert_int_equal(parts.function_length, strlen(function));
	assert_memory_equal(parts.function, function, strlen(function));
	assert_int_equal(parts.file_length, strlen(file));
	assert_memory_equal(parts.file, file, strlen(file));
	assert_int_equal(parts.line, line);
}

static void parts(void **state)
{
	(void)state;
	assert_parts("burn\n", "burn", "", 0);
	assert_parts("burn\n/srv/burn.py", "burn", "/srv/burn.py", 0);
	assert_parts("burn\n/srv/burn.py\n12", "burn", "/srv/burn.py", 12);
	assert_parts("gr\xc3\xb6\xc3\x9f\x65\nb.rb\n4294967295", "gr\xc3\xb6\xc3\x9f\x65", "b.rb",
		     4294967295);
}

static void what_is_none(void **state)
{
	char full[NAMED_TEXT_MAX + 2];
	struct runtime_text parts;

	(void)state;
	assert_false(runtime_text_parse("", 0, &parts));
	assert_false(runtime_text_parse("a\nb", 3, &parts)); /* no NUL */
	assert_false(runtime_text_parse("a\nb\0c", 6, &parts));
	memset(full, 'x', sizeof(full));
	full[1] = '\n';
	full[NAMED_TEXT_MAX - 1] = '\0';
	assert_true(runtime_text_parse(full, NAMED_TEXT_MAX, &parts));
	full[NAMED_TEXT_MAX - 1] = 'x';
	full[NAMED_TEXT_MAX] = '\0';
	assert_false(runtime_text_parse(full, NAMED_TEXT_MAX + 1, &parts));
}

static void what_is_written_can_be_read(void **state)
{
	char text[NAMED_TEXT_MAX];

	(void)state;
	names_write("a", "b", 0, text);
	assert_string_equal(text, "a\nb");
	names_write("a", "b", 2147483647, text);
	assert_parts(text, "a", "b", 2147483647);
	names_write("a", "b", (__u32)-1, text); /* Python has none */
	assert_string_equal(text, "a\nb");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(parts),
	    cmocka_unit_test(what_is_none),
	    cmocka_unit_test(what_is_written_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
