// SPDX-License-Identifier: Apache-2.0
/* Names of functions of Python, over objects as CPython has them, built in this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtimes/python/code_layout.h"
#include "runtimes/python/names.h"

#define CHARS_MAX 320
#define ASCII     (1U << 5 | 1U << 6) /* states: compact, and ASCII */
#define COMPACT   (1U << 5)

/* A text of Python 3.12. */
struct text {
	__u64 count, type, length, hash;
	__u32 state, gap;
	union {
		char ascii[CHARS_MAX];
		struct {
			__u64 utf8_length, utf8;
			union {
				__u8 one[CHARS_MAX];
				__u16 two[CHARS_MAX];
				__u32 four[CHARS_MAX];
			};
		} other;
	};
};

struct code {
	__u64 head[8];
	__u32 stack_size, first_line;
	__u64 more[5];
	const struct text *file, *name, *qualified;
};
_Static_assert(offsetof(struct code, first_line) == 68 && offsetof(struct code, file) == 112,
	       "as in 3.12");

static struct {
	struct text file, name;
	struct code code;
} world;

static void set(struct text *text, const char *chars)
{
	*text = (struct text){.length = strlen(chars), .state = ASCII | 1 << 2};
	memcpy(text->ascii, chars, strlen(chars));
}

static int build(void **state)
{
	(void)state;
	set(&world.file, "/srv/shop.py");
	set(&world.name, "Shop.total");
	world.code = (struct code){
	    .first_line = 12, .file = &world.file, .name = &world.name, .qualified = &world.name};
	return 0;
}

static int read_code(char *ret_text)
{
	_cleanup_close_ int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	const struct named_code code = {.address = (uintptr_t)&world.code,
					.check = (uintptr_t)&world.name,
					.layout = PYTHON_CODE_3_12};

	assert_true(memory >= 0);
	return python_names.read(memory, &code, ret_text);
}

static void assert_reads(const char *wanted)
{
	char text[NAMED_TEXT_MAX];

	assert_int_equal(read_code(text), 0);
	assert_string_equal(text, wanted);
}

static void a_function(void **state)
{
	(void)state;
	assert_reads("Shop.total\n/srv/shop.py\n12");
	world.code.first_line = (__u32)-1;
	assert_reads("Shop.total\n/srv/shop.py");
}

/* Characters of one, two and four bytes. */
static void other_letters(void **state)
{
	(void)state;
	world.name = (struct text){.length = 5, .state = COMPACT | 1 << 2};
	memcpy(world.name.other.one, "gr\xf6\xdf\x65", 5);
	assert_reads("gr\xc3\xb6\xc3\x9f\x65\n/srv/shop.py\n12");
	world.name = (struct text){.length = 2, .state = COMPACT | 2 << 2};
	memcpy(world.name.other.two, (const __u16[]){'a', 0x65e5}, 4);
	assert_reads("a\xe6\x97\xa5\n/srv/shop.py\n12");
	world.name = (struct text){.length = 2, .state = COMPACT | 4 << 2};
	memcpy(world.name.other.four, (const __u32[]){0x1f600, 'b'}, 8);
	assert_reads("\xf0\x9f\x98\x80\x62\n/srv/shop.py\n12");
}

/* What a terminal, or a file by lines, would take for something else. */
static void characters_that_cannot_be_shown(void **state)
{
	(void)state;
	set(&world.name, "a\nb\x1b[31m\x7f\xff");
	assert_reads("a?b?[31m?\xc3\xbf\n/srv/shop.py\n12");
	world.name.length++; /* a NUL */
	assert_reads("a?b?[31m?\xc3\xbf?\n/srv/shop.py\n12");
	world.name = (struct text){.length = 2, .state = COMPACT | 4 << 2};
	memcpy(world.name.other.four, (const __u32[]){0xd800, 0x7fffffff}, 8);
	assert_reads("??\n/srv/shop.py\n12");
}

/* Its end is left out. */
static void a_long_name(void **state)
{
	char wanted[NAMED_TEXT_MAX];

	(void)state;
	world.name.length = CHARS_MAX;
	memset(world.name.ascii, 'm', CHARS_MAX);
	memset(wanted, 'm', 255);
	strcpy(wanted + 255, "\n/srv/shop.py\n12");
	assert_reads(wanted);
}

static void what_is_no_text(void **state)
{
	char text[NAMED_TEXT_MAX];

	(void)state;
	world.name.state = 1 << 2; /* its characters are elsewhere */
	assert_int_equal(read_code(text), -EINVAL);
	world.name.state = COMPACT | 3 << 2;
	assert_int_equal(read_code(text), -EINVAL);
	set(&world.name, "");
	assert_int_equal(read_code(text), -EINVAL);
	build(NULL);
	world.code.file = NULL;
	assert_int_equal(read_code(text), -EINVAL);
}

static void another_function_at_its_place(void **state)
{
	char text[NAMED_TEXT_MAX];

	(void)state;
	world.code.name = &world.file;
	assert_int_equal(read_code(text), -ESTALE);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(a_function, build),
	    cmocka_unit_test_setup(other_letters, build),
	    cmocka_unit_test_setup(characters_that_cannot_be_shown, build),
	    cmocka_unit_test_setup(a_long_name, build),
	    cmocka_unit_test_setup(what_is_no_text, build),
	    cmocka_unit_test_setup(another_function_at_its_place, build),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
