// SPDX-License-Identifier: Apache-2.0
/* Percentiles are those of a sorted list, but for the width of a bucket; blobs keep all of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "random.h"
#include "trace/histogram.h"

#define COUNT 2000

static int compare(const void *a, const void *b)
{
	const __u64 *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void percentiles_are_right(void **state)
{
	static const double percents[] = {1, 10, 50, 90, 99, 100};
	static __u64 value[COUNT];
	struct histogram histogram = {};
	struct random random = {.state = 1};

	(void)state;
	for (size_t i = 0; i < COUNT; i++) {
		value[i] = random_next(&random) >> random_in(&random, 24, 48);
		histogram_add(&histogram, value[i]);
	}
	qsort(value, COUNT, sizeof(value[0]), compare);
	assert_int_equal(histogram.total, COUNT);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		__u64 exact = value[(size_t)(COUNT * percents[i] / 100) - 1];
		__u64 got = histogram_percentile(&histogram, percents[i]);

		__u64 off = got > exact ? got - exact : exact - got;

		/* A bucket is an eighth of what it begins with, and 1024 ns wide at least. */
		assert_in_range(off, 0, exact / 8 + 1024);
	}
}

static void blobs_keep_it(void **state)
{
	struct histogram histogram = {}, twice = {};
	__u8 blob[HISTOGRAM_BLOB_MAX];
	size_t size;

	(void)state;
	for (__u64 ns = 1; ns < 1ULL << 62; ns *= 3)
		histogram_add(&histogram, ns);
	histogram.count[255] += 0x01020304;
	histogram.total += 0x01020304;
	size = histogram_pack(&histogram, blob);
	histogram_unpack(&twice, blob, size);
	assert_memory_equal(&twice, &histogram, sizeof(histogram));
	histogram_unpack(&twice, blob, size);
	assert_int_equal(twice.total, 2 * histogram.total);
	histogram_unpack(&twice, blob, 4); /* no bucket */
	histogram_unpack(&twice, NULL, 0);
	assert_int_equal(twice.total, 2 * histogram.total);
}

static void the_empty_one_has_nothing(void **state)
{
	const struct histogram histogram = {};
	__u8 blob[HISTOGRAM_BLOB_MAX];

	(void)state;
	assert_int_equal(histogram_percentile(&histogram, 50), 0);
	assert_int_equal(histogram_pack(&histogram, blob), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(percentiles_are_right),
	    cmocka_unit_test(blobs_keep_it),
	    cmocka_unit_test(the_empty_one_has_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
