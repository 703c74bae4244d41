// SPDX-License-Identifier: Apache-2.0
/* Traces that are not sampled are kept for errors and slow requests, as a whole or not at all. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/clock.h"
#include "trace/keep.h"

#define TRACES_MAX 20000
#define MS         1000000ULL

/* What came out: spans by the number of their trace. */
struct seen {
	unsigned int of[TRACES_MAX], all;
	struct keep *keep;
};

static void on_span(const struct span *span, void *data)
{
	struct seen *seen = data;

	seen->of[span->trace_id[0] | span->trace_id[1] << 8]++;
	seen->all++;
}

static int set_up_with(void **state, struct keep_rules rules)
{
	static struct seen seen;

	memset(&seen, 0, sizeof(seen));
	*state = &seen;
	return keep_new(&rules, on_span, &seen, &seen.keep);
}

static int set_up(void **state)
{
	return set_up_with(state, (struct keep_rules){.errors = true});
}

static int set_up_slow(void **state)
{
	return set_up_with(state, (struct keep_rules){.slow = true});
}

static int tear_down(void **state)
{
	keep_free(((struct seen *)*state)->keep);
	return 0;
}

static struct span span_of(unsigned int trace, unsigned int status)
{
	struct span span = {.kind = SPAN_SERVER,
			    .trace_id = {(__u8)trace, (__u8)(trace >> 8), 1},
			    .status = status,
			    .end_ns = MS,
			    .route = "/"};
	__u32 random = trace * 2654435761U;

	memcpy(span.trace_id + 12, &random, sizeof(random));
	return span;
}

static void open_one(struct seen *seen, unsigned int trace)
{
	struct span span = span_of(trace, 0);

	keep_open(seen->keep, &span);
}

static void end_one(struct seen *seen, unsigned int trace, unsigned int status)
{
	struct span span = span_of(trace, status);

	keep_span(seen->keep, &span);
}

static void an_error(void **state)
{
	struct seen *seen = *state;

	open_one(seen, 1);
	open_one(seen, 1);
	open_one(seen, 2);
	end_one(seen, 1, 200);
	end_one(seen, 2, 200);
	assert_int_equal(seen->all, 0);
	end_one(seen, 1, 503);
	assert_int_equal(seen->of[1], 2);
	end_one(seen, 1, 200); /* what comes later belongs to it, too */
	assert_int_equal(seen->of[1], 3);
	keep_look(seen->keep, 100 * NS_PER_SECOND);
	assert_int_equal(seen->of[2], 0);
	assert_int_equal(keep_counts(seen->keep)->kept, 3);
	assert_int_equal(keep_counts(seen->keep)->dropped, 1);
}

/* As long as a request of it is open, and a little longer. */
static void until_it_is_over(void **state)
{
	struct span lost = span_of(1, 0);
	struct seen *seen = *state;

	open_one(seen, 1);
	open_one(seen, 1);
	end_one(seen, 1, 200);
	keep_look(seen->keep, 100 * NS_PER_SECOND);
	assert_int_equal(keep_counts(seen->keep)->dropped, 0);
	keep_gone(seen->keep, &lost);
	keep_look(seen->keep, 101 * NS_PER_SECOND);
	assert_int_equal(keep_counts(seen->keep)->dropped, 0);
	keep_look(seen->keep, 103 * NS_PER_SECOND);
	assert_int_equal(keep_counts(seen->keep)->dropped, 1);
	end_one(seen, 1, 500);
	assert_int_equal(seen->all, 0);
	assert_int_equal(keep_counts(seen->keep)->late, 1);
}

static void sampled_ones_pass_by(void **state)
{
	struct span span = span_of(1, 500);
	struct seen *seen = *state;

	span.trace_flags = 1;
	keep_open(seen->keep, &span);
	keep_span(seen->keep, &span);
	assert_int_equal(seen->all, 0);
	assert_int_equal(keep_counts(seen->keep)->kept + keep_counts(seen->keep)->dropped, 0);
}

/* More than there is room for, all of them open: some are dropped, none is cut. */
static void too_many(void **state)
{
	static const unsigned int traces = TRACES_MAX, spans = 3;
	const struct keep_counts *counts;
	struct seen *seen = *state;
	unsigned int whole = 0;

	for (unsigned int i = 0; i < traces; i++)
		open_one(seen, i);
	for (unsigned int span = 1; span < spans; span++)
		for (unsigned int i = 0; i < traces; i++) {
			open_one(seen, i);
			end_one(seen, i, 200);
		}
	for (unsigned int i = 0; i < traces; i++)
		end_one(seen, i, 500);
	for (unsigned int i = 0; i < traces; i++) {
		assert_true(!seen->of[i] || seen->of[i] == spans);
		whole += !!seen->of[i];
	}
	counts = keep_counts(seen->keep);
	assert_in_range(whole, KEEP_SPANS_MAX / spans / 2, KEEP_SPANS_MAX);
	assert_int_equal(counts->kept, whole * spans);
	assert_int_equal(counts->kept + counts->dropped, traces * spans);
	assert_int_equal(counts->late, traces - whole);
	assert_in_range(counts->crowded, 1, traces * spans);
}

/* Those that are over give way before one that is open. */
static void room_for_the_open(void **state)
{
	struct seen *seen = *state;

	open_one(seen, 0);
	open_one(seen, 0);
	end_one(seen, 0, 200);
	for (unsigned int i = 1; i < TRACES_MAX; i++) {
		open_one(seen, i);
		end_one(seen, i, 200);
	}
	end_one(seen, 0, 500);
	assert_int_equal(seen->of[0], 2);
	assert_int_equal(keep_counts(seen->keep)->crowded, 0);
}

/* A span of somebody's; the request, where it stays open, has another one that is not over. */
static void end_of(struct seen *seen, const char *owner, unsigned int trace, unsigned int status)
{
	struct span span = span_of(trace, status);

	strcpy(span.service.owner, owner);
	keep_span(seen->keep, &span);
}

#define VICTIMS 100 /* traces */

static void begin_victims(struct seen *seen)
{
	for (unsigned int i = 0; i < VICTIMS; i++) {
		open_one(seen, i);
		open_one(seen, i);
		end_of(seen, "victim", i, 200);
	}
}

static void end_victims(struct seen *seen)
{
	for (unsigned int i = 0; i < VICTIMS; i++) {
		end_of(seen, "victim", i, 500);
		assert_int_equal(seen->of[i], 2);
	}
}

/* A stranger holds more requests open than there is room for: his own give way. */
static void a_flood(void **state)
{
	struct seen *seen = *state;

	begin_victims(seen);
	for (unsigned int i = VICTIMS; i < TRACES_MAX; i++) {
		open_one(seen, i);
		for (int span = 0; span < 3; span++) {
			open_one(seen, i);
			end_of(seen, i % 2 ? "a stranger" : "a second one", i, 200);
		}
	}
	assert_in_range(keep_counts(seen->keep)->crowded, KEEP_SPANS_MAX, 1UL << 30);
	end_victims(seen);
}

/* The same in one trace, or in a trace of the victim's, which is lost then, and no other one. */
static void a_fat_trace(void **state)
{
	struct seen *seen = *state;

	begin_victims(seen);
	open_one(seen, VICTIMS + 1);
	open_one(seen, VICTIMS);
	end_of(seen, "victim", VICTIMS, 200);
	for (unsigned int i = 0; i < 3 * KEEP_SPANS_MAX; i++) {
		open_one(seen, VICTIMS + i % 2);
		end_of(seen, "a stranger", VICTIMS + i % 2, 200);
	}
	end_victims(seen);
}

/* Ids of which all have the same end: each is found as soon as others. */
static void chosen_ids(void **state)
{
	static const unsigned int traces = 100000;
	struct seen *seen = *state;
	clock_t begin = clock();

	for (unsigned int i = 1; i <= traces; i++) {
		struct span span = span_of(0, 0);

		memcpy(span.trace_id, &i, sizeof(i));
		keep_open(seen->keep, &span);
	}
	assert_in_range(clock() - begin, 0, CLOCKS_PER_SEC);
}

static void request(struct seen *seen, unsigned int trace, __u64 start_ns, __u64 duration_ns)
{
	struct span span = span_of(trace, 200);

	span.start_ns = start_ns;
	span.end_ns = start_ns + duration_ns;
	keep_open(seen->keep, &span);
	keep_span(seen->keep, &span);
	keep_look(seen->keep, span.end_ns);
}

/* The slowest 1 % of an endpoint, also when its pace changes. */
static void slow_ones(void **state)
{
	struct seen *seen = *state;
	unsigned int random = 1, before;

	for (__u64 i = 0; i < 99; i++)
		request(seen, (unsigned int)i, i * 10 * MS, i == 50 ? 500 * MS : MS);
	assert_int_equal(seen->all, 0); /* nothing is known yet */
	for (__u64 i = 100; i < 10000; i++) {
		random = random * 1103515245 + 12345;
		request(seen, (unsigned int)i, i * 10 * MS, 5 * MS + (random >> 8) % (10 * MS));
	}
	assert_in_range(seen->all, 0, 110);
	request(seen, 10001, 100001 * MS, 100 * MS);
	assert_int_equal(seen->of[10001], 1);
	before = seen->all;
	for (__u64 i = 10002; i < 19000; i++)
		request(seen, (unsigned int)i, i * 10 * MS, 50 * MS);
	assert_in_range(seen->all - before, 1, 150);
}

static void request_of(struct seen *seen, const char *owner, const char *route, __u64 duration_ns)
{
	struct span span = span_of(1, 200);

	strcpy(span.service.owner, owner);
	strcpy(span.route, route);
	span.end_ns = span.start_ns + duration_ns;
	keep_span(seen->keep, &span);
}

/* A stranger has more endpoints than there is room for: others' slow requests are known. */
static void slow_beside_a_flood(void **state)
{
	struct seen *seen = *state;
	char route[32];

	for (int i = 0; i < 3000; i++) {
		snprintf(route, sizeof(route), "/%d", i);
		request_of(seen, "a stranger", route, MS);
	}
	for (int i = 0; i < 100; i++)
		request_of(seen, "victim", "/shop", MS);
	assert_int_equal(seen->all, 0);
	request_of(seen, "victim", "/shop", 500 * MS);
	assert_in_range(seen->all, 1, 5000);
}

static void words(void **state)
{
	static const char *const wrong[] = {"", "error", "errors,", ",slow", "errors slow", "all"};
	struct keep_rules rules = {};

	(void)state;
	assert_int_equal(keep_rules_parse("errors", &rules), 0);
	assert_true(rules.errors && !rules.slow);
	assert_int_equal(keep_rules_parse("slow,errors", &rules), 0);
	assert_true(rules.errors && rules.slow);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(keep_rules_parse(wrong[i], &rules), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    TEST(an_error),
	    TEST(until_it_is_over),
	    TEST(sampled_ones_pass_by),
	    TEST(too_many),
	    TEST(room_for_the_open),
	    TEST(a_flood),
	    TEST(a_fat_trace),
	    TEST(chosen_ids),
	    cmocka_unit_test_setup_teardown(slow_ones, set_up_slow, tear_down),
	    cmocka_unit_test_setup_teardown(slow_beside_a_flood, set_up_slow, tear_down),
	    cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
