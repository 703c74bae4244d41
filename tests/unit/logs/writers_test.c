// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "logs/writers.h"

static void add(struct writers *writers, __u32 sequence, __u64 piece, __u32 size)
{
	const struct line_record record = {.sequence = sequence, .piece = piece, .size = size};

	writers_add(writers, &record);
}

static void order_is_that_of_the_numbers(void **state)
{
	struct writers writers = {.next = UINT32_MAX};

	(void)state;
	add(&writers, 1, 30, 3);
	add(&writers, UINT32_MAX, 10, 1);
	add(&writers, 0, 20, 2);
	assert_int_equal(writers_settle(&writers, 6), WRITERS_CERTAIN);
	for (__u32 i = 0; i < 3; i++)
		assert_int_equal(writers.record[i].size, i + 1);
	writers_forget(&writers);
	assert_int_equal(writers.next, 2);
	assert_int_equal(writers_settle(&writers, 0), WRITERS_CERTAIN);
}

static void records_that_are_to_come(void **state)
{
	struct writers writers = {};

	(void)state;
	add(&writers, 1, 20, 5);
	assert_int_equal(writers_settle(&writers, 5), WRITERS_MISSING);
	add(&writers, 0, 10, 7);
	assert_int_equal(writers_settle(&writers, 5), WRITERS_MISSING);
	assert_int_equal(writers_settle(&writers, 13), WRITERS_MISSING);
	assert_int_equal(writers_settle(&writers, 12), WRITERS_CERTAIN);
}

/* Both writers have seen the later piece, of the same size: the sum alone would not tell. */
static void racing_writers(void **state)
{
	struct writers writers = {};

	(void)state;
	add(&writers, 0, 20, 5);
	add(&writers, 1, 20, 5);
	assert_int_equal(writers_settle(&writers, 10), WRITERS_RACED);
	writers_forget(&writers);
	add(&writers, 2, 0, 0);
	assert_int_equal(writers_settle(&writers, 5), WRITERS_RACED);
}

static void too_many(void **state)
{
	struct writers writers = {};

	(void)state;
	for (__u32 i = 0; i <= WRITERS_MAX; i++)
		add(&writers, i, i + 1, 1);
	assert_int_equal(writers_settle(&writers, WRITERS_MAX), WRITERS_MISSING);
	assert_int_equal(writers_settle(&writers, WRITERS_MAX + 1), WRITERS_MISSING);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(order_is_that_of_the_numbers),
	    cmocka_unit_test(records_that_are_to_come),
	    cmocka_unit_test(racing_writers),
	    cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
