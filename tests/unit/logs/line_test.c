// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "logs/line.h"

#define TEXT_IDS " trace_id=0102030405060708090a0b0c0d0e0f10 span_id=1112131415161718"
#define JSON_IDS                                                                                   \
	"\"trace_id\":\"0102030405060708090a0b0c0d0e0f10\",\"span_id\":\"1112131415161718\""

static const struct traces_ctx ids = {
    .trace_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
    .span_id = {17, 18, 19, 20, 21, 22, 23, 24}};
static const struct traces_ctx other = {.trace_id = {1}, .span_id = {2}};

static const struct line_writer writer = {.is_certain = true, .works_on = &ids};
static const struct line_writer other_writer = {.is_certain = true, .works_on = &other};
static const struct line_writer idle = {.is_certain = true};
static const struct line_writer nobody = {};

/* What becomes of up to three pieces by these writers. */
struct piece {
	const char *text;
	const struct line_writer *writer;
};

static void expect(const struct piece piece[3], const char *wanted, enum line_result result)
{
	struct line_counts counts = {};
	struct buffer out = {};
	struct line line = {};

	for (size_t i = 0; i < 3 && piece[i].text; i++)
		line_pass(&line, piece[i].text, strlen(piece[i].text), piece[i].writer, &out,
			  &counts);
	assert_string_equal(out.text, wanted);
	assert_int_equal(counts.lines[result], 1);
	buffer_free(&out);
}

static void expect_whole(const char *text, const char *wanted, enum line_result result)
{
	expect((struct piece[3]){{text, &writer}}, wanted, result);
}

static void text_gets_ids(void **state)
{
	(void)state;
	expect_whole("hello\n", "hello" TEXT_IDS "\n", LINE_IDS);
	expect_whole("hello \r\n", "hello " TEXT_IDS "\r\n", LINE_IDS);
	expect_whole("\x1b[31mrot\xc3\xa4\x1b[0m\t!\n",
		     "\x1b[31mrot\xc3\xa4\x1b[0m\t!" TEXT_IDS "\n", LINE_IDS);
	expect((struct piece[3]){{"hel", &writer}, {"lo", &writer}, {"\n", &writer}},
	       "hello" TEXT_IDS "\n", LINE_IDS);
}

static void objects_get_members(void **state)
{
	(void)state;
	expect_whole("{\"a\": {\"b\":1}}\n", "{\"a\": {\"b\":1}," JSON_IDS "}\n", LINE_IDS);
	expect_whole("{ }\r\n", "{ " JSON_IDS "}\r\n", LINE_IDS);
	expect_whole("{\"big\":123456789012345678901234567890} \n",
		     "{\"big\":123456789012345678901234567890," JSON_IDS "} \n", LINE_IDS);
	expect((struct piece[3]){{"{\"a\":1}", &writer}, {"\n", &writer}},
	       "{\"a\":1," JSON_IDS "}\n", LINE_IDS);
}

static void other_forms_stay(void **state)
{
	static const char *const lines[] = {"{\n",
					    "  \"a\": 1\n",
					    "}\n",
					    "[1]\n",
					    "\tat frame\n",
					    "\n",
					    "\r\n",
					    "{\"a\":1} and more\n",
					    "{\"trace_id\":\"1\"}\n",
					    "has span_id=1\n",
					    "not \xff text\n",
					    "cut \xc3\n",
					    "bell \a\n",
					    "{\"a\":\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		expect_whole(lines[i], lines[i], LINE_FORM);
	expect((struct piece[3]){{"a\r", &writer}, {"\n", &writer}}, "a\r\n", LINE_FORM);
	expect((struct piece[3]){{"{\"a\":", &writer}, {"1}\n", &writer}}, "{\"a\":1}\n",
	       LINE_FORM);
}

static void long_lines_stay(void **state)
{
	char text[LINE_MAX_BYTES + 3];

	(void)state;
	memset(text, 'x', sizeof(text));
	strcpy(text + LINE_MAX_BYTES + 1, "\n");
	expect_whole(text, text, LINE_FORM);
}

static void doubt_gives_no_ids(void **state)
{
	(void)state;
	expect((struct piece[3]){{"a\n", &idle}}, "a\n", LINE_NO_REQUEST);
	expect((struct piece[3]){{"a\n", &nobody}}, "a\n", LINE_UNCERTAIN);
	expect((struct piece[3]){{"a", &writer}, {"b\n", &other_writer}}, "ab\n", LINE_SEVERAL);
	expect((struct piece[3]){{"a", &writer}, {"b\n", &idle}}, "ab\n", LINE_SEVERAL);
	expect((struct piece[3]){{"a", &writer}, {"\n", &nobody}}, "a\n", LINE_SEVERAL);
	expect((struct piece[3]){{"a", &idle}, {"b\n", &writer}}, "ab\n", LINE_NO_REQUEST);
	expect((struct piece[3]){{"a", &writer}, {"b", &other_writer}, {"c\n", &writer}}, "abc\n",
	       LINE_SEVERAL);
}

/* A doubtful line says nothing of the next one. */
static void lines_are_independent(void **state)
{
	struct line_counts counts = {};
	struct buffer out = {};
	struct line line = {};

	(void)state;
	line_pass(&line, "a", 1, &nobody, &out, &counts);
	line_pass(&line, "\nb\n{}\nc", 7, &writer, &out, &counts);
	line_pass(&line, "\n", 1, &writer, &out, &counts);
	assert_string_equal(out.text, "a\nb" TEXT_IDS "\n{" JSON_IDS "}\nc" TEXT_IDS "\n");
	assert_int_equal(counts.lines[LINE_IDS], 3);
	assert_int_equal(counts.lines[LINE_UNCERTAIN], 1);
	buffer_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_gets_ids),      cmocka_unit_test(objects_get_members),
	    cmocka_unit_test(other_forms_stay),   cmocka_unit_test(long_lines_stay),
	    cmocka_unit_test(doubt_gives_no_ids), cmocka_unit_test(lines_are_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
