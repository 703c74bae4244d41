// SPDX-License-Identifier: Apache-2.0
/* What is remembered of functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "profile/names/name_cache.h"

#define FILE_NUMBER 7

static const char *name_of(const struct name_cache *known, int file, __u32 address)
{
	const char *name;

	if (!name_cache_find(known, file, address, &name))
		return "?";
	return name ? name : "-";
}

static void ranges(void **state)
{
	struct name_cache *known = name_cache_new();

	(void)state;
	assert_non_null(known);
	assert_string_equal(name_of(known, FILE_NUMBER, 0), "?");
	assert_int_equal(name_cache_add(known, FILE_NUMBER, 100, 120, "second"), 0);
	assert_int_equal(name_cache_add(known, FILE_NUMBER, 20, 30, "first"), 0);
	assert_int_equal(name_cache_add(known, FILE_NUMBER, 30, 90, NULL), 0);
	assert_string_equal(name_of(known, FILE_NUMBER, 19), "?");
	assert_string_equal(name_of(known, FILE_NUMBER, 20), "first");
	assert_string_equal(name_of(known, FILE_NUMBER, 29), "first");
	assert_string_equal(name_of(known, FILE_NUMBER, 30), "-");
	assert_string_equal(name_of(known, FILE_NUMBER, 90), "?");
	assert_string_equal(name_of(known, FILE_NUMBER, 119), "second");
	assert_string_equal(name_of(known, FILE_NUMBER, 120), "?");
	assert_string_equal(name_of(known, FILE_NUMBER + 1, 20), "?");
	name_cache_free(known);
}

/* Many, in an order that is none. */
static void many(void **state)
{
	struct name_cache *known = name_cache_new();
	char name[16];

	(void)state;
	assert_non_null(known);
	for (__u32 i = 0; i < 1000; i++) {
		const __u32 number = i * 617 % 1000;

		snprintf(name, sizeof(name), "f%u", number);
		assert_int_equal(
		    name_cache_add(known, FILE_NUMBER, number * 10, number * 10 + 10, name), 0);
	}
	for (__u32 i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "f%u", i / 10);
		assert_string_equal(name_of(known, FILE_NUMBER, i), name);
	}
	assert_int_equal(name_cache_used(known), 0);
	name_cache_free(known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges),
	    cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
