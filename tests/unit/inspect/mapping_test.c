// SPDX-License-Identifier: Apache-2.0
/* Lines of /proc/PID/maps: what the kernel writes, and what it never would. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "inspect/mapping.h"

static int parse(const char *text, struct mapping *ret_mapping)
{
	static char line[256];

	assert_true(strlen(text) < sizeof(line));
	strcpy(line, text);
	return mapping_parse(line, ret_mapping);
}

static void lines_of_the_kernel(void **state)
{
	struct mapping mapping;

	(void)state;
	assert_int_equal(
	    parse("7f00a000-7f00c000 r-xp 0001f000 fe:1b 247970      /usr/lib/a b.so\n", &mapping),
	    0);
	assert_int_equal(mapping.start, 0x7f00a000);
	assert_int_equal(mapping.end, 0x7f00c000);
	assert_int_equal(mapping.offset, 0x1f000);
	assert_int_equal(mapping.major, 0xfe);
	assert_int_equal(mapping.minor, 0x1b);
	assert_int_equal(mapping.inode, 247970);
	assert_true(mapping.executable);
	assert_string_equal(mapping.path, "/usr/lib/a b.so");
	assert_int_equal(parse("10000-11000 rw-p 00000000 00:00 0 \n", &mapping), 0);
	assert_false(mapping.executable);
	assert_string_equal(mapping.path, "");
	assert_int_equal(parse("10000-11000 r--s 00000000 00:01 7       /x (deleted)\n", &mapping),
			 0);
	assert_string_equal(mapping.path, "/x (deleted)");
}

static void other_lines(void **state)
{
	static const char *const lines[] = {
	    "",
	    "\n",
	    "10000",
	    "10000-",
	    "10000-11000",
	    "10000-11000 r-x",
	    "10000-11000 r-xp",
	    "10000-11000 r-xp 0",
	    "10000-11000 r-xp 0 00:00",
	    "10000-11000 r-xp 0 00 0 /x",
	    "11000-10000 r-xp 0 00:00 0 /x",
	    "10000-10000 r-xp 0 00:00 0 /x",
	    "-10000-11000 r-xp 0 00:00 0 /x",
	    "10000- 11000 r-xp 0 00:00 0 /x",
	    "10000-11000 r-xpp 0 00:00 0 /x",
	    "10000-11000 r-xp 0 00:00 x /x",
	};
	struct mapping mapping;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (parse(lines[i], &mapping) != -EINVAL)
			fail_msg("'%s' was taken for a mapping", lines[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(lines_of_the_kernel),
	    cmocka_unit_test(other_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
