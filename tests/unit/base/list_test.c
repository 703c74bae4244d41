// SPDX-License-Identifier: Apache-2.0
/* Lists that grow, and places in sorted ones: against what is counted entry by entry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/list.h"

#define ENTRIES 1000

static bool is_until(const void *entry, const void *key)
{
	return *(const uint64_t *)entry <= *(const uint64_t *)key;
}

static bool is_before(const void *entry, const void *key)
{
	return *(const uint64_t *)entry < *(const uint64_t *)key;
}

/* 0, 0, 0, 3, 3, 3, 6, ...: each three times, with gaps between them. */
static uint64_t nth(size_t i)
{
	return i - i % 3;
}

static void grows(void **state)
{
	uint64_t *list = NULL;
	size_t room = 0;

	(void)state;
	for (size_t i = 0; i < ENTRIES; i++) {
		const size_t before = room;
		uint64_t *more = list_make_room(list, i, &room, sizeof(*more));

		assert_non_null(more);
		assert_true(room > i);
		/* It moves when it is full, and only then. */
		assert_int_equal(room != before, i == before);
		list = more;
		list[i] = i;
	}
	for (size_t i = 0; i < ENTRIES; i++)
		assert_int_equal(list[i], i);
	free(list);
}

static void counts(void **state)
{
	uint64_t list[ENTRIES];

	(void)state;
	for (size_t i = 0; i < ENTRIES; i++)
		list[i] = nth(i);
	for (size_t count = 0; count < 40; count++) {
		for (uint64_t key = 0; key < 45; key++) {
			size_t until = 0, before = 0;

			for (size_t i = 0; i < count; i++) {
				until += list[i] <= key;
				before += list[i] < key;
			}
			assert_int_equal(
			    list_count_while(list, count, sizeof(*list), is_until, &key), until);
			assert_int_equal(
			    list_count_while(list, count, sizeof(*list), is_before, &key), before);
		}
	}
	assert_int_equal(list_count_while(NULL, 0, sizeof(*list), is_until, &list[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(grows),
	    cmocka_unit_test(counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
