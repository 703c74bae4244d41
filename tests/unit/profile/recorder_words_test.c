// SPDX-License-Identifier: Apache-2.0
/* What --profile understands. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "profile/keep/recorder_words.h"

static void right(void **state)
{
	struct recorder_words words;

	(void)state;
	assert_int_equal(recorder_words_parse("19", &words), 0);
	assert_int_equal(words.hz, 19);
	assert_false(words.off_cpu);
	assert_int_equal(words.window_s, 60);
	assert_int_equal(words.full, 90);
	assert_int_equal(words.renew_s, 600);
	assert_int_equal(recorder_words_parse("99,off-cpu,window=5", &words), 0);
	assert_int_equal(words.hz, 99);
	assert_true(words.off_cpu);
	assert_int_equal(words.window_s, 5);
	assert_int_equal(recorder_words_parse("19,full=7,window=10", &words), 0);
	assert_int_equal(words.full, 7);
	assert_int_equal(words.renew_s, 30);
	assert_int_equal(words.window_s, 10);
}

static void wrong(void **state)
{
	static const char *const all[] = {
	    "",           "0",          "100",         "-1",           "19x",
	    "off-cpu",    "19,",        "19,,off-cpu", "19,on-cpu",    "19,off-cpu,",
	    "19,window",  "19,window=", "19,window=4", "19,window=61", "19,window=x",
	    "19 off-cpu", "19,full",    "19,full=0",   "19,full=91",   "19,full7"};
	struct recorder_words words = {.hz = 7};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(recorder_words_parse(all[i], &words), -EINVAL);
	assert_int_equal(words.hz, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(right),
	    cmocka_unit_test(wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
