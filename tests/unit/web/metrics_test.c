// SPDX-License-Identifier: Apache-2.0
/* Histograms of requests: each request in the right one, and never more of them than there may be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <stdio.h>

#include "traceparent.h"
#include "trace/metrics.h"

#define MS 1000000ULL

static struct span span_of(const char *route, __u64 ms)
{
	struct span span = {.kind = SPAN_SERVER,
			    .trace_flags = TRACEPARENT_SAMPLED,
			    .trace_id = {1},
			    .span_id = 2,
			    .status = 200,
			    .start_ns = 5000 * MS,
			    .end_ns = (5000 + ms) * MS};

	snprintf(span.method, sizeof(span.method), "GET");
	snprintf(span.route, sizeof(span.route), "%s", route);
	snprintf(span.service.name, sizeof(span.service.name), "shop");
	return span;
}

static void add(struct metrics *metrics, const struct span *span)
{
	const struct sink sink = metrics_sink(metrics);

	sink.span(sink.data, span, 0);
}

/* What was given to visit_all() last, and how many there were. */
static struct metrics_series last;
static size_t count;
static __u64 requests;

static void visit(const struct metrics_series *series, void *data)
{
	(void)data;
	last = *series;
	count++;
	for (size_t i = 0; i <= METRICS_BOUNDS; i++)
		requests += series->count[i];
}

static void visit_all(struct metrics *metrics)
{
	count = requests = 0;
	metrics_each(metrics, visit, NULL);
}

static void buckets_and_examples(void **state)
{
	struct metrics *metrics = metrics_new();
	struct span span = span_of("/a", 5);

	(void)state;
	add(metrics, &span); /* a bound belongs to its bucket */
	span = span_of("/a", 6);
	span.span_id = 7;
	add(metrics, &span);
	span = span_of("/a", 60000);
	span.trace_flags = 0; /* counted, but no example: nobody has stored it */
	add(metrics, &span);
	visit_all(metrics);
	assert_int_equal(count, 1);
	assert_int_equal(last.count[0], 1);
	assert_int_equal(last.count[1], 1);
	assert_int_equal(last.count[METRICS_BOUNDS], 1);
	assert_int_equal((int)(last.seconds * 1000 + 0.5), 60011);
	assert_int_equal(last.example[0].span_id, 2);
	assert_int_equal(last.example[1].span_id, 7);
	assert_int_equal(last.example[METRICS_BOUNDS].wall_ns, 0);
	assert_true(metrics_sink(metrics).takes_unsampled);
	metrics_free(metrics);
}

static void each_difference_is_a_series(void **state)
{
	struct metrics *metrics = metrics_new();
	struct span span = span_of("/a", 1);

	(void)state;
	add(metrics, &span);
	span.kind = SPAN_CLIENT;
	add(metrics, &span);
	span.status = 503;
	add(metrics, &span);
	span.status = 0;
	add(metrics, &span);
	assert_string_equal((visit_all(metrics), last.status_class), "none");
	snprintf(span.method, sizeof(span.method), "BREW");
	add(metrics, &span);
	snprintf(span.method, sizeof(span.method), "get"); /* methods have a case */
	add(metrics, &span);
	visit_all(metrics);
	assert_int_equal(count, 5);
	assert_int_equal(requests, 6);
	assert_string_equal(last.method, METRICS_OTHER);
	metrics_free(metrics);
}

static void there_is_an_end(void **state)
{
	struct metrics *metrics = metrics_new();
	char route[32];

	(void)state;
	for (int i = 0; i < METRICS_SERIES_MAX + 100; i++) {
		struct span span;

		snprintf(route, sizeof(route), "/%d", i);
		span = span_of(route, 1);
		snprintf(span.service.owner, sizeof(span.service.owner), "uid %d", i % 5);
		add(metrics, &span);
	}
	visit_all(metrics);
	assert_int_equal(count, METRICS_SERIES_MAX + 1);
	assert_int_equal(requests, METRICS_SERIES_MAX + 100);
	assert_string_equal(last.route, METRICS_OTHER);
	assert_string_equal(last.service, METRICS_OTHER);
	assert_int_equal(metrics_overflow(metrics), 100);
	metrics_free(metrics);
}

/* Half of them for whoever comes first, and a quarter for each beside. */
static void each_owner_has_a_share(void **state)
{
	struct metrics *metrics = metrics_new();
	char route[32];

	(void)state;
	for (int i = 0; i < METRICS_SERIES_MAX; i++) {
		struct span span;

		snprintf(route, sizeof(route), "/%d", i);
		span = span_of(route, 1);
		strcpy(span.service.owner, i < METRICS_SERIES_MAX - 100 ? "uid 1" : "uid 2");
		add(metrics, &span);
	}
	visit_all(metrics);
	assert_int_equal(count, METRICS_SERIES_MAX / 2 + 100 + 1);
	assert_int_equal(metrics_overflow(metrics), METRICS_SERIES_MAX / 2 - 100);
	metrics_free(metrics);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(buckets_and_examples),
	    cmocka_unit_test(each_difference_is_a_series),
	    cmocka_unit_test(there_is_an_end),
	    cmocka_unit_test(each_owner_has_a_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
