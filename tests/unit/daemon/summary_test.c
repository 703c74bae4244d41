// SPDX-License-Identifier: Apache-2.0
/* The line of counters in the log: what it says, what it leaves out, how often it comes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "daemon/summary.h"

static void what_it_says(void **state)
{
	struct counters before = {}, now;
	char line[256];
	size_t length;

	(void)state;
	before.count[REASON_INJECTED] = 40;
	before.count[REASON_PRESENT] = 7;
	now = before;
	assert_int_equal(summary_text(line, sizeof(line), &before, &now), 0);
	now.count[REASON_INJECTED] += 2;
	now.count[REASON_OPEN] += 1;
	now.count[REASON_SEQ] += 500; /* of packets: no news */
	now.count[REASON_DROPPED] += 3;
	length = summary_text(line, sizeof(line), &before, &now);
	assert_string_equal(line, "injected 2 (42), opened 1 (1), dropped 3 (3)");
	assert_int_equal(length, strlen(line));
}

static void what_does_not_fit(void **state)
{
	struct counters before = {}, now = {};
	char line[16];

	(void)state;
	for (unsigned int reason = 0; reason < REASON_COUNT; reason++)
		now.count[reason] = 1;
	summary_text(line, sizeof(line), &before, &now);
	assert_string_equal(line, "injected 1 (1),");
}

static void how_often(void **state)
{
	const struct summary summary = {.told_ns = 5 * NS_PER_SECOND};

	(void)state;
	assert_false(summary_is_due(&summary, 64 * NS_PER_SECOND));
	assert_true(summary_is_due(&summary, 65 * NS_PER_SECOND));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(what_it_says),
	    cmocka_unit_test(what_does_not_fit),
	    cmocka_unit_test(how_often),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
