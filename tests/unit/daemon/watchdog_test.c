// SPDX-License-Identifier: Apache-2.0
/* Who asks for the daemon's health is told of a loop that does not turn. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "daemon/watchdog.h"

#define SICK_NS (WATCHDOG_SICK_SECONDS * NS_PER_SECOND)

static char why[128];

static int health_in(__u64 ns)
{
	*why = '\0';
	return watchdog_health_at(clock_now_ns() + ns, why, sizeof(why));
}

static void before_the_loop(void **state)
{
	(void)state;
	assert_int_equal(health_in(1000 * SICK_NS), 0);
}

static void a_turn_that_lasts(void **state)
{
	struct watchdog watchdog = {};

	(void)state;
	watchdog_begin(&watchdog, "the policy");
	watchdog_mark(&watchdog, "news of devices");
	assert_int_equal(health_in(0), 0);
	assert_int_equal(health_in(SICK_NS - NS_PER_SECOND), 0);
	assert_int_equal(health_in(SICK_NS + NS_PER_SECOND), -ETIMEDOUT);
	assert_non_null(strstr(why, "has not turned for 3"));
	assert_non_null(strstr(why, "news of devices"));
}

/* To wait for news is no illness, to sleep over what is due is one. */
static void waiting(void **state)
{
	struct watchdog watchdog = {};

	(void)state;
	watchdog_begin(&watchdog, "the policy");
	watchdog_end(&watchdog, 60000);
	assert_int_equal(health_in(60 * NS_PER_SECOND), 0);
	assert_int_equal(health_in(60 * NS_PER_SECOND + SICK_NS - NS_PER_SECOND), 0);
	assert_int_equal(health_in(60 * NS_PER_SECOND + SICK_NS + NS_PER_SECOND), -ETIMEDOUT);
	assert_non_null(strstr(why, "waiting"));
	watchdog_end(&watchdog, -1);
	assert_int_equal(health_in(1000 * SICK_NS), 0);
	watchdog_begin(&watchdog, "the policy");
	assert_int_equal(health_in(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(before_the_loop),
	    cmocka_unit_test(a_turn_that_lasts),
	    cmocka_unit_test(waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
