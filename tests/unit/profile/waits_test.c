// SPDX-License-Identifier: Apache-2.0
/* Both halves of a wait find each other, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/take/samples.h"
#include "profile/take/waits.h"

#define SAME_BUCKET 4096 /* apart */

static struct stack first, second;

static struct profile_sample record(__u32 tid, __u64 time_ns)
{
	return (struct profile_sample){.tid = tid, .time_ns = time_ns};
}

static void begin(struct waits *waits, __u32 tid, __u64 time_ns, struct stack *stack)
{
	const struct profile_sample sample = record(tid, time_ns);

	assert_int_equal(waits_begin(waits, &sample, stack), 0);
}

static struct stack *end(struct waits *waits, __u32 tid, __u64 time_ns)
{
	const struct profile_sample sample = record(tid, time_ns);

	return waits_end(waits, &sample);
}

static void threads(void **state)
{
	struct waits *waits = waits_new();

	(void)state;
	assert_non_null(waits);
	begin(waits, 7, 100, &first);
	begin(waits, 7 + SAME_BUCKET, 100, &second);
	assert_ptr_equal(end(waits, 7, 100), &first);
	assert_ptr_equal(end(waits, 7 + SAME_BUCKET, 100), &second);
	assert_null(end(waits, 8, 100));
	waits_free(waits);
}

/* One of the two records was lost. */
static void halves(void **state)
{
	struct waits *waits = waits_new();

	(void)state;
	assert_non_null(waits);
	begin(waits, 7, 100, &first);
	assert_null(end(waits, 7, 200));
	begin(waits, 7, 300, &second);
	assert_null(end(waits, 7, 100));
	assert_ptr_equal(end(waits, 7, 300), &second);
	assert_null(end(waits, 7, 300));
	waits_free(waits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(threads),
	    cmocka_unit_test(halves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
