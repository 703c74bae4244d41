// SPDX-License-Identifier: Apache-2.0
/* What people write for a time, wherever an option takes one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/query_words.h"

#define US 1000ULL
#define MS (1000 * US)
#define S  (1000 * MS)

static void test_times(void **state)
{
	static const struct {
		const char *text;
		__u64 ns;
	} times[] = {{"5", 5 * S},        {"0.5", 500 * MS},   {"0", 0},          {"5s", 5 * S},
		     {"1.5s", 1500 * MS}, {"100ms", 100 * MS}, {"20us", 20 * US}, {"3m", 180 * S},
		     {"2h", 7200 * S},    {"7d", 604800 * S}};

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		__u64 ns = 1;

		assert_int_equal(query_parse_time(times[i].text, &ns), 0);
		assert_int_equal(ns, times[i].ns);
	}
}

static void test_refused(void **state)
{
	static const char *const texts[] = {"",     "s",   "soon", "-5",   "5 s", "5S",
					    "5sec", "nan", "inf",  "1e10", "5m5", "5,5"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		__u64 ns = 7;

		assert_int_not_equal(query_parse_time(texts[i], &ns), 0);
		assert_int_equal(ns, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_times),
					   cmocka_unit_test(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
