// SPDX-License-Identifier: Apache-2.0
/* The table of cases, whole, and cut at every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cases.h"
#include "marked.h"
#include "oracle.h"
#include "run.h"

#define STREAM_MAX 8192

static uint8_t bytes[STREAM_MAX];
static char text[4 * STREAM_MAX];
static char difference[512];
static struct run whole, cut;

static void fail_case(const struct framing_case *c, const char *how, const char *what)
{
	fail_msg("case \"%s\", %s:\n%s\ninstead of\n%s", c->name, how, what, c->text);
}

/* The events are those that are written into the case, and llhttp sees the same boundaries. */
static void check_whole(const struct framing_case *c, const struct run_input *input)
{
	run_stream(input, &whole);
	if (whole.fault)
		fail_case(c, "whole", whole.fault);
	marked_text(bytes, input->len, &whole, text, sizeof(text));
	if (strcmp(text, c->text) != 0)
		fail_case(c, "whole", text);
	if (!oracle_agrees(input, &whole, difference, sizeof(difference)))
		fail_case(c, "beside llhttp", difference);
}

static void check_cut(const struct framing_case *c, const struct run_input *input)
{
	run_stream(input, &cut);
	if (cut.fault)
		fail_case(c, "cut", cut.fault);
	if (run_differ(&whole, &cut, difference, sizeof(difference)))
		fail_case(c, "cut", difference);
}

/* Two packets, cut at each byte; and a packet for each byte. */
static void check_cuts(const struct framing_case *c, struct run_input input)
{
	size_t every[STREAM_MAX];

	for (size_t i = 0; i < input.len; i++) {
		every[i] = i;
		input.cuts = &every[i];
		input.cut_count = 1;
		check_cut(c, &input);
	}
	input.cuts = every;
	input.cut_count = input.len;
	check_cut(c, &input);
}

static void check_table(enum protocol_kind kind, const struct framing_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct run_input input = {
		    .kind = kind,
		    .bytes = bytes,
		    .len = marked_bytes(cases[i].text, bytes, sizeof(bytes)),
		    .answers = cases[i].answers,
		};

		check_whole(&cases[i], &input);
		check_cuts(&cases[i], input);
		input.look = true;
		check_cut(&cases[i], &input);
		check_cuts(&cases[i], input);
	}
}

static void requests(void **state)
{
	(void)state;
	check_table(PROTOCOL_REQUEST, request_cases, request_case_count);
}

static void responses(void **state)
{
	(void)state;
	check_table(PROTOCOL_RESPONSE, response_cases, response_case_count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(requests),
	    cmocka_unit_test(responses),
	};

	return cmocka_run_group_tests_name("framing: cases", tests, NULL, NULL);
}
