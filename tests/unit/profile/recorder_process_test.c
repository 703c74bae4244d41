// SPDX-License-Identifier: Apache-2.0
/* When a recorder that has died is started again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "profile/keep/recorder_process.h"

static void pauses(void **state)
{
	static const unsigned int wanted[] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300};
	unsigned int pause_s = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		pause_s = recorder_process_pause_s(pause_s, 3);
		assert_int_equal(pause_s, wanted[i]);
	}
	assert_int_equal(recorder_process_pause_s(300, 3600), 1);
}

static void hangs(void **state)
{
	const __u64 still_ns = 20 * NS_PER_SECOND, long_ns = 301 * NS_PER_SECOND;

	(void)state;
	assert_true(recorder_process_hangs(1, still_ns, still_ns));
	assert_false(recorder_process_hangs(1, still_ns, 0));        /* it is busy */
	assert_false(recorder_process_hangs(1, 0, still_ns));        /* it makes turns */
	assert_false(recorder_process_hangs(0, still_ns, still_ns)); /* it begins */
	assert_true(recorder_process_hangs(1, long_ns, 0));
	assert_true(recorder_process_hangs(0, long_ns, 0));
}

/* Nothing is there, and nothing happens. */
static void unwanted(void **state)
{
	struct recorder_process recorder = RECORDER_PROCESS_NONE;

	(void)state;
	recorder_process_begin(&recorder);
	assert_null(recorder.counts);
	assert_int_equal(recorder.pid, 0);
	assert_int_equal(recorder_process_fd(&recorder), -1);
	assert_int_equal(recorder_process_do(&recorder), -1);
	recorder_process_stop(&recorder);
	recorder_process_end(&recorder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pauses),
	    cmocka_unit_test(hangs),
	    cmocka_unit_test(unwanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
