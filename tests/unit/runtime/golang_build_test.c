// SPDX-License-Identifier: Apache-2.0
/* Reading the version out of .go.buildinfo. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtimes/go/build_info.h"

#define HEADER 32

/* The minor version that a section with this text has, or -errno. */
static int minor_of(const char *version, __u8 flags)
{
	size_t length = strlen(version), size = HEADER + 1 + length;
	__u8 *section = calloc(1, size); /* no byte to spare: sanitizers see reads beyond */
	unsigned int minor;
	int err;

	memcpy(section, "\xff Go buildinf:\x08", 15);
	section[15] = flags;
	section[HEADER] = (__u8)length;
	memcpy(section + HEADER + 1, version, length);
	err = golang_build_minor(section, size, &minor);
	free(section);
	return err ? err : (int)minor;
}

static void versions(void **state)
{
	(void)state;
	assert_int_equal(minor_of("go1.19.8", 2), 19);
	assert_int_equal(minor_of("go1.23", 2), 23);
	assert_int_equal(minor_of("go1.25rc1", 2), 25);
	assert_int_equal(minor_of("go1.24.1 X:nocoverageredesign", 2), 24);
}

static void not_versions(void **state)
{
	(void)state;
	assert_int_equal(minor_of("devel go1.24-abcdef", 2), -EINVAL);
	assert_int_equal(minor_of("go1.", 2), -EINVAL);
	assert_int_equal(minor_of("go2.1", 2), -EINVAL);
	assert_int_equal(minor_of("", 2), -EINVAL);
	assert_int_equal(minor_of("go1.19", 0), -EINVAL); /* pointers to the text: before 1.18 */
}

static void cut_short(void **state)
{
	static const char whole[] = "\xff Go buildinf:\x08\x02________________\x08go1.19.8";
	size_t size = sizeof(whole) - 1;
	unsigned int minor;

	(void)state;
	assert_int_equal(golang_build_minor((const __u8 *)whole, size, &minor), 0);
	for (size_t i = 0; i < size; i++) {
		__u8 *part = malloc(i + 1);

		memcpy(part, whole, i);
		assert_int_equal(golang_build_minor(part, i, &minor), -EINVAL);
		free(part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(versions),
	    cmocka_unit_test(not_versions),
	    cmocka_unit_test(cut_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
