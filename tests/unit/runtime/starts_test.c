// SPDX-License-Identifier: Apache-2.0
/* Whom to believe that the goroutines it starts end with their requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtimes/runtime.h"

static int trusted(__u32 ended, __u32 outlived)
{
	struct start start = {.ended = ended, .outlived = outlived};

	return start_is_trusted(&start);
}

static void too_few_have_ended(void **state)
{
	(void)state;
	assert_false(trusted(0, 0));
	assert_false(trusted(START_ENDED_MIN - 1, 0));
	assert_true(trusted(START_ENDED_MIN, 0));
}

static void workers_of_pools_outlive_their_requests(void **state)
{
	(void)state;
	assert_false(trusted(8, 8));
	assert_false(trusted(START_ENDED_MIN, 1));
	assert_false(trusted(START_OUTLIVED_RATIO - 1, 1));
	assert_true(trusted(START_OUTLIVED_RATIO, 1));
	assert_false(trusted(0xffffffff, 0x80000000)); /* the product does not overflow */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(too_few_have_ended),
	    cmocka_unit_test(workers_of_pools_outlive_their_requests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
