// SPDX-License-Identifier: Apache-2.0
/* The hash table: many things, things of one hash, keys of another type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/unique.h"

#define ITEMS 1000

struct item {
	uint32_t key, value;
};

static bool has_key(const void *item, const void *key)
{
	return ((const struct item *)item)->key == *(const uint32_t *)key;
}

/* Few hashes for many keys: those of one hash are told apart by their keys. */
static __u64 hash_of(uint32_t key)
{
	return key % 97;
}

static void finds(void **state)
{
	static struct item items[ITEMS];
	struct unique unique = {.same = has_key};
	uint32_t absent = ITEMS;

	(void)state;
	assert_null(unique_find(&unique, 0, &absent));
	for (uint32_t i = 0; i < ITEMS; i++) {
		items[i] = (struct item){.key = i, .value = 7 * i};
		assert_null(unique_find(&unique, hash_of(i), &i));
		assert_int_equal(unique_append(&unique, hash_of(i), &items[i]), i);
	}
	for (uint32_t i = 0; i < ITEMS; i++) {
		assert_ptr_equal(unique_find(&unique, hash_of(i), &i), &items[i]);
		assert_ptr_equal(unique.item[i], &items[i]);
	}
	assert_null(unique_find(&unique, hash_of(absent), &absent));
	unique_free(&unique);
	assert_int_equal(unique.count, 0);
	assert_null(unique_find(&unique, 0, &items[0].key));
}

/* Of several that are the same the first is found; unique_add() adds no second one. */
static void first_one(void **state)
{
	struct item one = {.key = 1}, again = {.key = 1}, other = {.key = 2};
	struct unique unique = {.same = has_key};

	(void)state;
	assert_int_equal(unique_add(&unique, 1, &one), 0);
	assert_int_equal(unique_add(&unique, 1, &again), 0);
	assert_int_equal(unique_append(&unique, 1, &again), 1);
	assert_int_equal(unique_add(&unique, 1, &other), 2);
	assert_ptr_equal(unique_find(&unique, 1, &again.key), &one);
	assert_ptr_equal(unique_find(&unique, 1, &other.key), &other);
	assert_null(unique_find(&unique, 2, &other.key));
	unique_free(&unique);
}

static void texts(void **state)
{
	struct unique strings = {};
	char text[16];

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < ITEMS; i++) {
			snprintf(text, sizeof(text), "%d", i);
			assert_int_equal(strings_add(&strings, text), i + 1);
			assert_string_equal(strings.text[i + 1], text);
		}
	assert_int_equal(strings_add(&strings, ""), 0);
	assert_int_equal(strings.count, ITEMS + 1);
	unique_free_all(&strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(finds),
	    cmocka_unit_test(first_one),
	    cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
