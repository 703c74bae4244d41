// SPDX-License-Identifier: Apache-2.0
/* Lists that grow, and places in sorted ones: against what is counted entry by entry. */
#include <malloc.h>
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

/* Add numbers from *count on, up to `end`: the memory has room for each, and the last is the new
 * one.
 */
static void add_until(uint64_t **list, size_t *count, size_t end)
{
	for (size_t i = *count; i < end; i++) {
		uint64_t *entry = list_add(list, count, sizeof(*entry));

		assert_non_null(entry);
		assert_int_equal(*count, i + 1);
		assert_ptr_equal(entry, &(*list)[i]);
		assert_true(malloc_usable_size(*list) >= *count * sizeof(*entry));
		*entry = i;
	}
}

static void grows(void **state)
{
	/* Some lists lose entries before they grow again. */
	static const size_t lost_at[] = {16, 17, 33, 64, 100, 128, 500, 512, ENTRIES};
	uint64_t *list = NULL;
	size_t count = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(lost_at) / sizeof(lost_at[0]); i++) {
		add_until(&list, &count, lost_at[i]);
		count = i % 2 ? 0 : count / 3;
	}
	add_until(&list, &count, ENTRIES);
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
