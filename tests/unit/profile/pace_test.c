// SPDX-License-Identifier: Apache-2.0
/* When a recorder looks, and where its windows end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "profile/keep/pace.h"

#define SECOND_NS ((__s64)NS_PER_SECOND)
#define RING      4096

static void pauses(void **state)
{
	(void)state;
	assert_int_equal(pace_pause_ms(100, 0, RING), 200);
	assert_int_equal(pace_pause_ms(100, RING / 8, RING), 200);
	assert_int_equal(pace_pause_ms(200, RING / 8 + 1, RING), 100);
	assert_int_equal(pace_pause_ms(PACE_PAUSE_MAX_MS, 0, RING), PACE_PAUSE_MAX_MS);
	assert_int_equal(pace_pause_ms(60, RING, RING), PACE_PAUSE_MIN_MS);
}

/* Windows end where minutes do. */
static void ends(void **state)
{
	const __s64 from_ns = 90 * SECOND_NS;

	(void)state;
	assert_false(pace_is_over(from_ns, 119 * SECOND_NS, 29 * NS_PER_SECOND, 60));
	assert_true(pace_is_over(from_ns, 120 * SECOND_NS, 30 * NS_PER_SECOND, 60));
	assert_true(pace_is_over(from_ns, 100 * SECOND_NS, 10 * NS_PER_SECOND, 10));
}

/* The clock on the wall is set. */
static void other_clock(void **state)
{
	const __s64 from_ns = 90 * SECOND_NS;

	(void)state;
	assert_false(pace_is_over(from_ns, 20 * SECOND_NS, 10 * NS_PER_SECOND, 60));
	assert_true(pace_is_over(from_ns, 20 * SECOND_NS, 60 * NS_PER_SECOND, 60));
	assert_true(pace_is_over(from_ns, 9000 * SECOND_NS, NS_PER_SECOND, 60));
}

static void end_seconds(void **state)
{
	(void)state;
	assert_int_equal(pace_end_s(90 * SECOND_NS, 120 * SECOND_NS + 5, 30 * NS_PER_SECOND), 120);
	assert_int_equal(pace_end_s(90 * SECOND_NS, 120 * SECOND_NS, 30 * NS_PER_SECOND - 9), 120);
	assert_int_equal(pace_end_s(90 * SECOND_NS, 90 * SECOND_NS + 5, 5), 91);
	/* The clock was set. */
	assert_int_equal(pace_end_s(90 * SECOND_NS, 9000 * SECOND_NS, 30 * NS_PER_SECOND), 120);
	assert_int_equal(pace_end_s(90 * SECOND_NS, 20 * SECOND_NS, 30 * NS_PER_SECOND), 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pauses),
	    cmocka_unit_test(ends),
	    cmocka_unit_test(other_clock),
	    cmocka_unit_test(end_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
