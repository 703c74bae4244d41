// SPDX-License-Identifier: Apache-2.0
/* How many lines the log gets in a second, and when the others are told of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "daemon/log_limit.h"

#define BEGIN (7 * NS_PER_SECOND)

static unsigned int take(struct log_limit *limit, unsigned int lines, __u64 now_ns)
{
	unsigned int taken = 0;

	for (unsigned int i = 0; i < lines; i++)
		taken += log_limit_take(limit, now_ns);
	return taken;
}

static void so_many_in_a_second(void **state)
{
	struct log_limit limit = {};

	(void)state;
	assert_int_equal(take(&limit, LOG_LIMIT_LINES - 1, BEGIN), LOG_LIMIT_LINES - 1);
	assert_int_equal(take(&limit, 3, BEGIN + NS_PER_SECOND - 1), 1);
	assert_int_equal(take(&limit, LOG_LIMIT_LINES + 3, BEGIN + NS_PER_SECOND), LOG_LIMIT_LINES);
}

static void the_others_are_told_of_once(void **state)
{
	struct log_limit limit = {};

	(void)state;
	take(&limit, LOG_LIMIT_LINES + 3, BEGIN);
	assert_int_equal(log_limit_left_out(&limit, BEGIN), 0); /* there may come more */
	assert_int_equal(log_limit_left_out(&limit, BEGIN + NS_PER_SECOND), 3);
	assert_int_equal(log_limit_left_out(&limit, BEGIN + NS_PER_SECOND), 0);
}

/* Also where lines come without a pause. */
static void none_is_forgotten(void **state)
{
	struct log_limit limit = {};

	(void)state;
	take(&limit, LOG_LIMIT_LINES + 3, BEGIN);
	take(&limit, LOG_LIMIT_LINES + 4, BEGIN + NS_PER_SECOND);
	assert_int_equal(log_limit_left_out(&limit, BEGIN + NS_PER_SECOND), 3);
	take(&limit, LOG_LIMIT_LINES + 5, BEGIN + 2 * NS_PER_SECOND);
	assert_int_equal(log_limit_left_out(&limit, BEGIN + 4 * NS_PER_SECOND), 4 + 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(so_many_in_a_second),
	    cmocka_unit_test(the_others_are_told_of_once),
	    cmocka_unit_test(none_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
