// SPDX-License-Identifier: Apache-2.0
/*
 * For random streams: the same events however the stream is cut into packets, and the same
 * boundaries as llhttp. FRAMING_STREAMS in the environment says for how many of each sort.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "generator.h"
#include "oracle.h"
#include "run.h"

#define STREAM_MAX      16384
#define STREAMS_DEFAULT 2000
/* Ways in which each stream is cut at random, beside each byte once. */
#define CUTS_TRIED 8
#define CUTS_MAX   64

static uint8_t bytes[STREAM_MAX];
static struct run whole, cut;
static char text[512];

/* What the streams of one test came to, so that a test of nothing is seen. */
struct tally {
	size_t heads, ends, stops;
};

static void save(const struct run_input *input)
{
	FILE *file = fopen("framing-failure.bin", "wb");

	if (!file)
		return;
	fwrite(input->bytes, 1, input->len, file);
	fclose(file);
}

static void fail_stream(const struct run_input *input, uint64_t seed, const char *what)
{
	save(input);
	fail_msg("stream of seed %#llx (kept in framing-failure.bin): %s", (unsigned long long)seed,
		 what);
}

static void check_cut(const struct run_input *input, uint64_t seed)
{
	run_stream(input, &cut);
	if (cut.fault)
		fail_stream(input, seed, cut.fault);
	if (run_differ(&whole, &cut, text, sizeof(text)))
		fail_stream(input, seed, text);
}

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return x < y ? -1 : x > y;
}

/* Cut the stream at up to CUTS_MAX places. */
static void check_random_cuts(struct generator *g, struct run_input input, uint64_t seed)
{
	size_t cuts[CUTS_MAX];

	input.cuts = cuts;
	input.cut_count = 1 + generator_draw(g, CUTS_MAX);
	input.look = generator_draw(g, 2);
	for (size_t i = 0; i < input.cut_count; i++)
		cuts[i] = generator_draw(g, input.len);
	qsort(cuts, input.cut_count, sizeof(cuts[0]), by_size);
	check_cut(&input, seed);
}

static void check_every_byte(struct run_input input, uint64_t seed)
{
	static size_t every[STREAM_MAX];

	for (size_t i = 0; i < input.len; i++)
		every[i] = i;
	input.cuts = every;
	input.cut_count = input.len;
	check_cut(&input, seed);
}

static void count(struct tally *tally)
{
	for (size_t i = 0; i < whole.count; i++) {
		tally->heads += whole.marks[i].event == PROTOCOL_HEAD;
		tally->ends += whole.marks[i].event == PROTOCOL_END;
		tally->stops += whole.marks[i].event == PROTOCOL_STOP;
	}
}

static void check_stream(struct generator *g, enum protocol_kind kind, enum generator_mood mood,
			 struct tally *tally)
{
	uint64_t seed = g->seed;
	struct run_input input = {.kind = kind, .bytes = bytes};

	generator_stream(g, kind, mood);
	input.len = g->len;
	if (mood != GENERATOR_VALID && !generator_draw(g, 4))
		input.answers = generator_draw(g, 1 << 16);
	run_stream(&input, &whole);
	if (whole.fault)
		fail_stream(&input, seed, whole.fault);
	if (!oracle_agrees(&input, &whole, text, sizeof(text)))
		fail_stream(&input, seed, text);
	check_every_byte(input, seed);
	for (int i = 0; i < CUTS_TRIED; i++)
		check_random_cuts(g, input, seed);
	count(tally);
	run_thin(&whole);
	input.scan = true;
	for (int i = 0; i < CUTS_TRIED; i++)
		check_random_cuts(g, input, seed);
}

static size_t streams(void)
{
	const char *wanted = getenv("FRAMING_STREAMS");

	return wanted ? strtoul(wanted, NULL, 10) : STREAMS_DEFAULT;
}

static struct tally check_streams(enum protocol_kind kind, enum generator_mood mood)
{
	struct generator g = {
	    .seed = 0x9e3779b97f4a7c15 + (uint64_t)kind * GENERATOR_MOODS + mood,
	    .bytes = bytes,
	    .room = sizeof(bytes),
	};
	struct tally tally = {0};

	for (size_t i = streams(); i; i--)
		check_stream(&g, kind, mood, &tally);
	print_message("%zu streams: %zu heads, %zu messages, %zu stops\n", streams(), tally.heads,
		      tally.ends, tally.stops);
	return tally;
}

static void valid_requests(void **state)
{
	struct tally tally = check_streams(PROTOCOL_REQUEST, GENERATOR_VALID);

	(void)state;
	assert_int_equal(tally.stops, 0);
	assert_int_equal(tally.ends, tally.heads);
	assert_true(tally.ends > streams());
}

static void valid_responses(void **state)
{
	struct tally tally = check_streams(PROTOCOL_RESPONSE, GENERATOR_VALID);

	(void)state;
	assert_int_equal(tally.stops, 0);
	assert_true(tally.ends > streams() / 2);
}

/* Streams with odd lines: some are framed, some are not. */
static void check_mixed(enum protocol_kind kind, enum generator_mood mood)
{
	struct tally tally = check_streams(kind, mood);

	assert_true(tally.ends > streams() / 8);
	assert_true(tally.stops > streams() / 8);
}

static void odd_requests(void **state)
{
	(void)state;
	check_mixed(PROTOCOL_REQUEST, GENERATOR_ODD);
}

static void odd_responses(void **state)
{
	(void)state;
	check_mixed(PROTOCOL_RESPONSE, GENERATOR_ODD);
}

static void hostile_requests(void **state)
{
	(void)state;
	check_mixed(PROTOCOL_REQUEST, GENERATOR_HOSTILE);
}

static void hostile_responses(void **state)
{
	(void)state;
	check_mixed(PROTOCOL_RESPONSE, GENERATOR_HOSTILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(valid_requests),   cmocka_unit_test(valid_responses),
	    cmocka_unit_test(odd_requests),     cmocka_unit_test(odd_responses),
	    cmocka_unit_test(hostile_requests), cmocka_unit_test(hostile_responses),
	};

	return cmocka_run_group_tests_name("framing: properties", tests, NULL, NULL);
}
