// SPDX-License-Identifier: Apache-2.0
/* What a bundle tells of options: no secret that may stand in a URL, and no comment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cmd/bundle_words.h"

#define LEFT BUNDLE_LEFT_OUT

static void tells(void **state)
{
	static const char *const words[][2] = {
	    {"--netns", "--netns"},
	    {"http://127.0.0.1:4318", "http://127.0.0.1:4318"},
	    {"--otlp=https://host/v1/traces", "--otlp=https://host/v1/traces"},
	    {"https://host/", "https://host/"},
	    {"https://host/secret", "https://host/" LEFT},
	    {"https://host/v1/traces?key=secret", "https://host/" LEFT},
	    {"https://host?key=secret", "https://host/" LEFT},
	    {"https://host#secret", "https://host/" LEFT},
	    {"https://host secret", "https://host/" LEFT},
	    {"otlp = https://me:secret@host:1/x", "otlp = https://" LEFT "@host:1/" LEFT},
	    {"https://me:sec/ret@host", "https://" LEFT "@host"},
	    {"https://me:sec@ret@host", "https://" LEFT "@host"},
	};
	char told[256];

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		bundle_word(words[i][0], told, sizeof(told));
		assert_string_equal(told, words[i][1]);
	}
}

static void fits(void **state)
{
	char told[8];

	(void)state;
	bundle_word("--a-long-word", told, sizeof(told));
	assert_string_equal(told, "--a-lon");
}

static void knows_options(void **state)
{
	static const char *const others[] = {"# flows = 1", "",           "\n",       "flows",
					     "= 1",         "root:x:0:0", "Flows = 1"};
	char line[64];

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		strcpy(line, others[i]);
		assert_false(bundle_is_option(line));
	}
	strcpy(line, " otlp = http://a/#b  # secret\n");
	assert_true(bundle_is_option(line));
	assert_string_equal(line, " otlp = http://a/#b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(tells),
	    cmocka_unit_test(fits),
	    cmocka_unit_test(knows_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
