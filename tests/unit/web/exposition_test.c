// SPDX-License-Identifier: Apache-2.0
/* Metrics as text, in both formats, and which one is wanted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "web/exposition.h"

static const struct family family = {"things", "counter", "seconds", "Things."};

/* All of a small page. */
static void write_page(bool is_open_metrics, struct buffer *ret_text)
{
	const struct exposition exposition = {ret_text, is_open_metrics};
	const struct label label = {"name", "a\"b\\c\xc3\xa9"};
	const struct label none = {"name", ""};

	exposition_family(&exposition, &family);
	exposition_value(&exposition, &family, "_total", &label, 3);
	exposition_value(&exposition, &family, "_total", &none, 0.25);
	exposition_end(&exposition);
}

#define SAMPLES "things_total{name=\"a\\\"b\\\\c\xc3\xa9\"} 3\nthings_total 0.25\n"

static void text_is_as_it_should_be(void **state)
{
	struct buffer text = {};

	(void)state;
	write_page(false, &text);
	assert_string_equal(text.text,
			    "# HELP things_total Things.\n# TYPE things_total counter\n" SAMPLES);
	buffer_free(&text);
}

static void open_metrics_are_as_they_should_be(void **state)
{
	struct buffer text = {};

	(void)state;
	write_page(true, &text);
	assert_string_equal(text.text, "# HELP things Things.\n# TYPE things counter\n"
				       "# UNIT things seconds\n" SAMPLES "# EOF\n");
	buffer_free(&text);
}

static void accept_is_obeyed(void **state)
{
	static const struct {
		const char *accept;
		bool open;
	} cases[] = {
	    {NULL, false},
	    {"", false},
	    {"*/*", false},
	    {"application/*", false},
	    {"application/openmetrics-text", true},
	    {"Application/OpenMetrics-Text ; version=1.0.0", true},
	    {"text/plain, application/openmetrics-text", true},
	    {"text/plain;q=0.5,application/openmetrics-text;q=0.4", false},
	    {"text/plain;q=0.3 , application/openmetrics-text; version=1.0.0; q=0.4", true},
	    {"application/openmetrics-text;q=0", false},
	    {"application/openmetrics-text;q=0, application/openmetrics-text;q=1", true},
	    {"application/openmetrics-text;q=x", false},
	    {"application/openmetrics-text;", true},
	    {"application/openmetrics-textual", false},
	    {",,, ;;;q=,application/openmetrics-text", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (exposition_prefers_open_metrics(cases[i].accept) != cases[i].open)
			fail_msg("Accept: %s", cases[i].accept);
}

/* More than the first buffers hold. */
static void a_buffer_grows(void **state)
{
	struct buffer text = {};
	char word[600];

	(void)state;
	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	for (int i = 0; i < 100; i++)
		buffer_printf(&text, "%s\n", word);
	assert_false(text.failed);
	assert_int_equal(text.size, 100 * sizeof(word));
	assert_int_equal(strlen(text.text), text.size);
	assert_memory_equal(text.text + 99 * sizeof(word), word, sizeof(word) - 1);
	buffer_free(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_is_as_it_should_be),
	    cmocka_unit_test(open_metrics_are_as_they_should_be),
	    cmocka_unit_test(accept_is_obeyed),
	    cmocka_unit_test(a_buffer_grows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
