// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/clock.h"
#include "base/hex.h"
#include "web/metrics_requests.h"

static const struct family families[] = {
    {"http_server_request_duration_seconds", "histogram", "seconds",
     "Requests that were served, from their first byte to the last of the response."},
    {"http_client_request_duration_seconds", "histogram", "seconds",
     "Requests that were sent, from their first byte to the last of the answer."},
};
static const enum span_kind kinds[] = {SPAN_SERVER, SPAN_CLIENT};

#define LABELS 5

/* One family: those series that are of its side. */
struct page {
	const struct exposition *exposition;
	const struct family *family;
	enum span_kind kind;
};

/* " # {trace_id=...,span_id=...} value seconds" */
static void write_example(struct buffer *out, const struct metrics_example *example)
{
	char trace[HEX_TRACE], span[HEX_SPAN];

	hex_text(trace, example->trace_id, sizeof(example->trace_id));
	hex_text(span, &example->span_id, sizeof(example->span_id));
	buffer_printf(out, " # {trace_id=\"%s\",span_id=\"%s\"} %.9f %lld.%03lld", trace, span,
		      example->seconds, (long long)(example->wall_ns / (__s64)NS_PER_SECOND),
		      (long long)(example->wall_ns % (__s64)NS_PER_SECOND / 1000000));
}

static void name_bound(size_t bucket, char *ret_text, size_t size)
{
	double bound = bucket < METRICS_BOUNDS ? metrics_bounds[bucket] : 0;

	if (bucket == METRICS_BOUNDS)
		snprintf(ret_text, size, "+Inf");
	else /* the same in both formats: 1.0, not 1 */
		snprintf(ret_text, size, bound == (double)(int)bound ? "%.1f" : "%g", bound);
}

static void write_buckets(const struct page *page, const struct metrics_series *series,
			  struct label labels[LABELS])
{
	const struct exposition *exposition = page->exposition;
	unsigned long long below = 0;
	char bound[16];

	labels[LABELS - 1] = (struct label){"le", bound};
	for (size_t i = 0; i <= METRICS_BOUNDS; i++) {
		const struct metrics_example *example = &series->example[i];

		name_bound(i, bound, sizeof(bound));
		below += series->count[i];
		exposition_name(exposition, page->family, "_bucket", labels, LABELS);
		buffer_printf(exposition->out, "%llu", below);
		if (exposition->is_open_metrics && example->wall_ns)
			write_example(exposition->out, example);
		buffer_printf(exposition->out, "\n");
	}
	exposition_name(exposition, page->family, "_sum", labels, LABELS - 1);
	buffer_printf(exposition->out, "%.9f\n", series->seconds);
	exposition_name(exposition, page->family, "_count", labels, LABELS - 1);
	buffer_printf(exposition->out, "%llu\n", below);
}

static void write_series(const struct metrics_series *series, void *data)
{
	const struct page *page = data;
	struct label labels[LABELS] = {{"service", series->service},
				       {"http_request_method", series->method},
				       {"http_route", series->route},
				       {"http_response_status_class", series->status_class}};

	if (series->kind == page->kind)
		write_buckets(page, series, labels);
}

static void write_overflow(struct metrics *metrics, const struct exposition *exposition)
{
	static const struct family family = {
	    .name = "ctxprop_metrics_overflow",
	    .type = "counter",
	    .help =
		"Requests counted under _OTHER because there was no room for more label values."};

	exposition_family(exposition, &family);
	exposition_value(exposition, &family, "_total", NULL, (double)metrics_overflow(metrics));
}

void metrics_requests(struct metrics *metrics, const struct exposition *exposition)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		struct page page = {exposition, &families[i], kinds[i]};

		exposition_family(exposition, &families[i]);
		metrics_each(metrics, write_series, &page);
	}
	write_overflow(metrics, exposition);
}
