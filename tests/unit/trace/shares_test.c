// SPDX-License-Identifier: Apache-2.0
/* Who has how much of a table: there is room for others, whatever one takes, and never too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/shares.h"

#define ROOM 1000

static struct shares shares;

static int begin(void **state)
{
	(void)state;
	shares = (struct shares){.room = ROOM};
	return 0;
}

/* Take as much as there is in pieces. Returns how much that was. */
static size_t take_all(const char *owner, size_t piece)
{
	const size_t before = shares.taken;

	while (shares_take_some(&shares, owner, piece))
		;
	return shares.taken - before;
}

static void one_at_a_time(void **state)
{
	size_t taken = 0;

	(void)state;
	while (shares_take(&shares, "greedy"))
		taken++;
	assert_int_equal(taken, ROOM / 2);
	assert_int_equal(shares_left(&shares, "greedy"), 0);
	assert_int_equal(shares_left(&shares, "other"), ROOM / 4);
}

static void several_at_once(void **state)
{
	(void)state;
	assert_false(shares_take_some(&shares, "greedy", ROOM / 2 + 1));
	assert_int_equal(shares.taken, 0);
	assert_int_equal(take_all("greedy", 7), ROOM / 2 / 7 * 7);
	assert_int_equal(take_all("other", 7), ROOM / 4 / 7 * 7);
	assert_in_range(take_all("third", 7), ROOM / 4 / 7 * 7, ROOM / 4 + 7);
	assert_true(shares.taken <= ROOM);
}

static void nobody_is_counted_for_nothing(void **state)
{
	(void)state;
	assert_true(shares_take_some(&shares, "idle", 0));
	assert_int_equal(shares_of(&shares, "idle")->taken, 0);
	assert_int_equal(shares.taken, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(one_at_a_time, begin),
	    cmocka_unit_test_setup(several_at_once, begin),
	    cmocka_unit_test_setup(nobody_is_counted_for_nothing, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
