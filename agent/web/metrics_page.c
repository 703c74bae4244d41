// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <bpf/bpf.h>

#include "base/clock.h"
#include "base/reason_names.h"
#include "flows/counters.h"
#include "engine/node.h"
#include "load/table.h"
#include "load/node.h"
#include "web/metrics_answers.h"
#include "web/metrics_page.h"
#include "web/metrics_process.h"
#include "web/metrics_recorder.h"
#include "web/metrics_requests.h"

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
