// SPDX-License-Identifier: Apache-2.0
/* When the exporter tries again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "otlp/retry.h"

#define NOW 1577836800 /* Wed, 01 Jan 2020 00:00:00 GMT */

static void waits_double_up_to_a_bound(void **state)
{
	uint32_t most = RETRY_FIRST_MS;

	(void)state;
	for (unsigned int tries = 1; tries < 40; tries++) {
		assert_int_equal(retry_wait_ms(tries, 0), most / 2);
		assert_int_equal(retry_wait_ms(tries, most / 2), most);
		for (uint32_t random = 0; random < 100; random++) {
			uint32_t ms = retry_wait_ms(tries, random * 2654435761u);

			assert_in_range(ms, most / 2, most);
		}
		most = 2 * most < RETRY_MOST_MS ? 2 * most : RETRY_MOST_MS;
	}
	assert_int_equal(retry_wait_ms(UINT32_MAX, UINT32_MAX) <= RETRY_MOST_MS, 1);
}

static void no_shorter_wait_can_be_asked_for(void **state)
{
	(void)state;
	for (unsigned int tries = 1; tries < 10; tries++) {
		const uint32_t usual = retry_wait_ms(tries, 77);

		assert_int_equal(retry_pause_ms(RETRY_NEVER, tries, 77), usual);
		assert_int_equal(retry_pause_ms(0, tries, 77), usual);
		assert_int_equal(retry_pause_ms(usual - 1, tries, 77), usual);
		assert_int_equal(retry_pause_ms(usual + 1, tries, 77), usual + 1);
		assert_int_equal(retry_pause_ms(RETRY_AFTER_MS, tries, 77), RETRY_AFTER_MS);
	}
}

static void what_is_too_old_is_given_up(void **state)
{
	(void)state;
	assert_true(retry_is_worth(0, RETRY_MOST_MS, false));
	assert_true(retry_is_worth(RETRY_GIVE_UP - 101, 100, false));
	assert_false(retry_is_worth(RETRY_GIVE_UP - 100, 100, false));
	/* Who is asked to wait for an hour waits for an hour, once. */
	assert_true(retry_is_worth(1000, RETRY_AFTER_MS, true));
	assert_false(retry_is_worth(RETRY_AFTER_MS, 0, true));
}

static void seconds_and_dates(void **state)
{
	static const struct {
		const char *value;
		uint32_t ms;
	} cases[] = {
	    {"0", 0},
	    {"7", 7000},
	    {"120", 120000},
	    {"3600", RETRY_AFTER_MS},
	    {"86400", RETRY_AFTER_MS},
	    {"99999999999999999999999999", RETRY_AFTER_MS},
	    {"Wed, 01 Jan 2020 00:00:30 GMT", 30000},
	    {"Wednesday, 01-Jan-20 00:00:30 GMT", 30000},
	    {"Wed Jan  1 00:00:30 2020", 30000},
	    {"Wed, 01 Jan 2020 00:00:00 GMT", 0},
	    {"Tue, 31 Dec 2019 23:59:59 GMT", 0},
	    {"Thu, 01 Jan 2099 00:00:00 GMT", RETRY_AFTER_MS},
	    {"", RETRY_NEVER},
	    {"soon", RETRY_NEVER},
	    {"-5", RETRY_NEVER},
	    {"1.5", RETRY_NEVER},
	    {"5 s", RETRY_NEVER},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (retry_after_ms(cases[i].value, NOW) != cases[i].ms)
			fail_msg("%s: %u, not %u", cases[i].value,
				 retry_after_ms(cases[i].value, NOW), cases[i].ms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(waits_double_up_to_a_bound),
	    cmocka_unit_test(no_shorter_wait_can_be_asked_for),
	    cmocka_unit_test(what_is_too_old_is_given_up),
	    cmocka_unit_test(seconds_and_dates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
