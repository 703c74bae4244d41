// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "base/foreign.h"
#include "cmd/profile_table.h"
#include "cmd/waterfall.h"
#include "trace/json.h"

void profile_table_head(bool waits)
{
	printf("%8s %7s %8s %10s %12s ", "SAMPLES", "SHARE", "CPU MS", "REQUESTS", "MS/REQUEST");
	if (waits)
		printf("%12s %12s ", "+ BLOCKED", "+ RUN QUEUE");
	printf("%9s %9s  %s\n", "P50", "P99", "ENDPOINT  HOTTEST FUNCTION");
}

/* How long each of the requests was at something. */
static void print_each(const struct profile_line *line, __u64 ns)
{
	if (line->requests)
		printf("%12.3f ", (double)ns / 1e6 / (double)line->requests);
	else
		printf("%12s ", "-");
}

static void print_duration(__s64 ns)
{
	char text[WATERFALL_DURATION_MAX];

	printf("%9s ", ns ? waterfall_duration(text, ns) : "-");
}

/* How many requests there were, what each has cost, and how long they took. */
static void print_requests(const struct profile_line *line, bool waits)
{
	if (line->requests)
		printf("%10llu ", line->requests);
	else
		printf("%10s ", "-");
	print_each(line, line->cpu_ns);
	for (size_t i = 0; waits && i < PROFILE_WAITS; i++)
		print_each(line, line->waited_ns[i]);
	print_duration(line->p50_ns);
	print_duration(line->p99_ns);
}

void profile_table_line(const struct profile_line *line, bool waits)
{
	printf("%8llu ", line->samples);
	if (line->share < 0)
		printf("%7s ", "-");
	else
		printf("%6.1f%% ", 100 * line->share);
	printf("%8.0f ", (double)line->cpu_ns / 1e6);
	print_requests(line, waits);
	printf(" ");
	foreign_print(line->service);
	printf("%s", *line->service ? " " : "");
	foreign_print(line->name);
	if (line->hottest) {
		fputs("  ", stdout);
		foreign_print(line->hottest);
		printf(" %.0f%%", 100 * line->hottest_share);
	}
	putchar('\n');
}

static void add_requests(json_t *object, const struct profile_line *line)
{
	json_object_update_new(object, json_pack("{sI,sI}", "requests", (json_int_t)line->requests,
						 "cpu_ns_per_request",
						 (json_int_t)(line->cpu_ns / line->requests)));
	if (line->p50_ns || line->p99_ns)
		json_object_update_new(object,
				       json_pack("{sI,sI}", "p50_ns", (json_int_t)line->p50_ns,
						 "p99_ns", (json_int_t)line->p99_ns));
}

json_t *profile_table_json(const struct profile_line *line, bool waits)
{
	json_t *object = json_pack("{sI,sI}", "samples", (json_int_t)line->samples, "cpu_ns",
				   (json_int_t)line->cpu_ns);

	if (waits)
		json_object_update_new(
		    object,
		    json_pack("{sI,sI}", "blocked_ns", (json_int_t)line->waited_ns[PROFILE_BLOCKED],
			      "run_queue_ns", (json_int_t)line->waited_ns[PROFILE_RUN_QUEUE]));
	json_set_text(object, "endpoint", line->name);
	if (*line->service)
		json_set_text(object, "service", line->service);
	if (line->requests)
		add_requests(object, line);
	return object;
}
