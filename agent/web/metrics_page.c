// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/hex.h"
#include "base/reason_names.h"
#include "engine/node.h"
#include "flows/counters.h"
#include "load/node.h"
#include "load/table.h"
#include "profile/keep/recorder_counts.h"
#include "trace/metrics.h"
#include "web/exposition.h"
#include "web/metrics_answers.h"
#include "web/metrics_page.h"

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

static void metrics_requests(struct metrics *metrics, const struct exposition *exposition)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
		struct page page = {exposition, &families[i], kinds[i]};

		exposition_family(exposition, &families[i]);
		metrics_each(metrics, write_series, &page);
	}
	write_overflow(metrics, exposition);
}

static void metrics_recorder(const struct recorder_counts *counts,
			     const struct exposition *exposition)
{
	static const struct family family = {
	    .name = "ctxprop_profile",
	    .type = "counter",
	    .help = "What became of the continuous profile; samples are counted by window."};
	const struct {
		const char *what;
		__u64 count;
	} rows[] = {
	    {"samples", counts->samples},
	    {"samples-of-requests", counts->of_requests},
	    {"incomplete", counts->incomplete},
	    {"waits", counts->waits},
	    {"lost", counts->lost},
	    {"left-out", counts->left_out},
	    {"windows", counts->windows},
	    {"removed", counts->removed},
	    {"failed", counts->failed},
	    {"renewed", counts->renewed},
	    {"unreadable", counts->unreadable},
	    {"starts", counts->starts},
	};

	exposition_family(exposition, &family);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct label label = {"what", rows[i].what};

		exposition_value(exposition, &family, "_total", &label, (double)rows[i].count);
	}
}

static void write_cpu(const struct exposition *exposition)
{
	static const struct family family = {.name = "process_cpu_seconds",
					     .type = "counter",
					     .unit = "seconds",
					     .help = "Processor time of this process."};
	struct rusage usage;
	double seconds;

	if (getrusage(RUSAGE_SELF, &usage))
		return;
	seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		  (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	exposition_family(exposition, &family);
	exposition_value(exposition, &family, "_total", NULL, seconds);
}

/* Pages of all memory, and of that which is resident: /proc/self/statm. */
static void write_memory(const struct exposition *exposition)
{
	static const struct family family = {.name = "process_resident_memory_bytes",
					     .type = "gauge",
					     .unit = "bytes",
					     .help = "Memory of this process, maps not included."};
	FILE *file = fopen("/proc/self/statm", "re");
	char line[128] = "";
	const char *resident;

	if (!file)
		return;
	resident = fgets(line, sizeof(line), file) ? strchr(line, ' ') : NULL;
	fclose(file);
	if (!resident)
		return;
	exposition_family(exposition, &family);
	exposition_value(exposition, &family, "", NULL,
			 (double)strtoul(resident, NULL, 10) * (double)sysconf(_SC_PAGESIZE));
}

static void metrics_process(const struct exposition *exposition)
{
	write_cpu(exposition);
	write_memory(exposition);
}

static const char *const group_help[] = {
    [REASON_GROUP_REQUESTS] = "Requests that left, by what became of their header.",
    [REASON_GROUP_FLOWS] = "What happened to connections, by reason.",
    [REASON_GROUP_PACKETS] = "Packets, by what was done to them.",
    [REASON_GROUP_SERVED] = "Requests that came in, by what is known of them.",
    [REASON_GROUP_RECORDS] = "What spans lack, by reason.",
    [REASON_GROUP_EVIDENCE] = "Requests that left with a header, by the evidence of their cause.",
    [REASON_GROUP_VETO] = "Requests whose cause was not believed, by reason.",
};
_Static_assert(sizeof(group_help) / sizeof(group_help[0]) == REASON_GROUPS, "every group has help");

static void write_group(const struct exposition *exposition, const struct counters *counters,
			enum reason_group group)
{
	char name[64];
	const struct family family = {.name = name, .type = "counter", .help = group_help[group]};

	snprintf(name, sizeof(name), "ctxprop_%s", reason_group_name(group));
	exposition_family(exposition, &family);
	for (unsigned int reason = 0; reason < REASON_COUNT; reason++) {
		const struct label label = {"reason", reason_row(reason)->name};

		if (reason_row(reason)->group == group)
			exposition_value(exposition, &family, "_total", &label,
					 (double)counters->count[reason]);
	}
}

static void write_reasons(const struct exposition *exposition, int counters_fd)
{
	struct counters counters;

	if (counters_read(counters_fd, &counters))
		return;
	for (enum reason_group group = 0; group < REASON_GROUPS; group++)
		write_group(exposition, &counters, group);
}

static const struct family spans_family = {
    .name = "ctxprop_spans",
    .type = "counter",
    .help = "What became of spans; one span may be counted more than once."};

static void write_spans_sample(void *to, const char *what, unsigned long count)
{
	const struct label label = {"what", what};

	exposition_value(to, &spans_family, "_total", &label, (double)count);
}

static void write_spans(const struct exposition *exposition, struct tracer *tracer)
{
	struct exposition copy = *exposition;

	exposition_family(exposition, &spans_family);
	tracer_counts(tracer, write_spans_sample, &copy);
}

static void write_gauge(const struct exposition *exposition, const char *name, const char *help,
			double value)
{
	const struct family family = {.name = name, .type = "gauge", .help = help};

	exposition_family(exposition, &family);
	exposition_value(exposition, &family, "", NULL, value);
}

static void write_flows(const struct exposition *exposition, int flows_fd)
{
	unsigned long total = 0, shifted = 0;
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	if (!table_count(flows_fd, TABLE_ANYWHERE, &total, &shifted)) {
		write_gauge(exposition, "ctxprop_flow_table_entries",
			    "Connections in the flow table.", (double)total);
		write_gauge(exposition, "ctxprop_flow_table_shifted",
			    "Connections whose numbers are shifted by what was added.",
			    (double)shifted);
	}
	if (!bpf_obj_get_info_by_fd(flows_fd, &info, &size))
		write_gauge(exposition, "ctxprop_flow_table_room",
			    "Connections for which the flow table has room.", info.max_entries);
}

/* Nothing where requests are not followed. */
static void write_publish(const struct exposition *exposition)
{
	__u32 publish;

	if (!node_publish(&publish))
		write_gauge(exposition, "ctxprop_contexts_published",
			    "Whether traces_ctx_v1 shows what goroutines, tasks and greenlets "
			    "work on, too: 1 while a program of others reads it, or always.",
			    publish == NODE_PUBLISH_READ || publish == NODE_PUBLISH_SAMPLED ||
				publish == NODE_PUBLISH_ALWAYS);
}

static void write_loop(const struct exposition *exposition, __u64 longest_turn_ns)
{
	static const struct family family = {
	    .name = "ctxprop_loop_longest_turn_seconds",
	    .type = "gauge",
	    .unit = "seconds",
	    .help = "The longest time for which the daemon's loop was held up, but for the time in "
		    "which others had the processor."};

	exposition_family(exposition, &family);
	exposition_value(exposition, &family, "", NULL, (double)longest_turn_ns / 1e9);
}

static void write_build(const struct exposition *exposition)
{
	static const struct family family = {.name = "ctxprop_build_info",
					     .type = "gauge",
					     .help = "The version of this program; always 1."};
	const struct label label = {"version", CTXPROP_VERSION};

	exposition_family(exposition, &family);
	exposition_value(exposition, &family, "", &label, 1);
}

void metrics_page(const struct metrics_sources *sources, const struct exposition *exposition)
{
	if (sources->metrics)
		metrics_requests(sources->metrics, exposition);
	if (sources->tracer)
		write_spans(exposition, sources->tracer);
	if (sources->recorded)
		metrics_recorder(sources->recorded, exposition);
	metrics_answers(exposition);
	write_reasons(exposition, sources->counters_fd);
	write_flows(exposition, sources->flows_fd);
	write_publish(exposition);
	write_loop(exposition, sources->longest_turn_ns());
	metrics_process(exposition);
	write_build(exposition);
	exposition_end(exposition);
}
