// SPDX-License-Identifier: Apache-2.0
/* Sizes and times that users type: units, limits, and what is none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/number.h"
#include "trace/query_words.h"

static void sizes(void **state)
{
	static const struct {
		const char *text;
		int err;
		__u64 bytes;
	} rows[] = {
	    {"1024", 0, 1024},       {"1K", 0, 1024},
	    {"64M", 0, 64ULL << 20}, {"2G", 0, 2ULL << 30},
	    {"1T", 0, 1ULL << 40},   {"1023", -ERANGE, 0},
	    {"0", -ERANGE, 0},       {"2T", -ERANGE, 0},
	    {"", -EINVAL, 0},        {"M", -EINVAL, 0},
	    {"1.5G", -EINVAL, 0},    {"1MB", -EINVAL, 0},
	    {"1m", -EINVAL, 0},      {"-1M", -EINVAL, 0},
	    {" 1M", -EINVAL, 0},     {"99999999999999999999", -ERANGE, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		__u64 bytes = 0;

		assert_int_equal(size_parse(rows[i].text, 1024, 1ULL << 40, &bytes), rows[i].err);
		assert_int_equal(bytes, rows[i].bytes);
	}
}

static void times(void **state)
{
	static const struct {
		const char *text;
		int err;
		__u64 ns;
	} rows[] = {
	    {"250us", 0, 250000},      {"100ms", 0, 100000000},    {"1.5s", 0, 1500000000},
	    {"90m", 0, 5400000000000}, {"12h", 0, 43200000000000}, {"7d", 0, 604800000000000},
	    {"7", 0, 7000000000},      {"0.5", 0, 500000000},      {"0", 0, 0},
	    {"", -EINVAL, 0},          {"-5", -EINVAL, 0},         {"5S", -EINVAL, 0},
	    {"5sec", -EINVAL, 0},      {"5m5", -EINVAL, 0},        {"nan", -EINVAL, 0},
	    {"inf", -EINVAL, 0},       {"1e10", -EINVAL, 0},       {"d", -EINVAL, 0},
	    {"-1h", -EINVAL, 0},       {"7 d", -EINVAL, 0},        {"nanh", -EINVAL, 0},
	    {"1e30d", -EINVAL, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		__u64 ns = 0;

		assert_int_equal(query_parse_time(rows[i].text, &ns), rows[i].err);
		assert_int_equal(ns, rows[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(sizes), cmocka_unit_test(times)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
