// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <jansson.h>

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/profile_summary.h"
#include "cmd/profile_table.h"

/* How long an endpoint's requests were on the CPU, as samples tell. */
static __u64 cpu_ns(const struct endpoint *endpoint, unsigned int hz)
{
	return endpoint->samples * NS_PER_SECOND / hz;
}

/* With what they have waited, if that was asked for. */
static __u64 wall_ns(const struct endpoint *endpoint, unsigned int hz)
{
	return cpu_ns(endpoint, hz) + endpoint->waited_ns[PROFILE_BLOCKED] +
	       endpoint->waited_ns[PROFILE_RUN_QUEUE];
}

/* The one of no request is the last. */
static int compare(const void *a, const void *b, void *hz)
{
	const bool is_none = endpoint_is_none(((const struct endpoint *)a)->name);
	const __u64 first = wall_ns(a, *(unsigned int *)hz),
		    second = wall_ns(b, *(unsigned int *)hz);

	if (is_none != endpoint_is_none(((const struct endpoint *)b)->name))
		return is_none ? 1 : -1;
	return (first < second) - (first > second);
}

/* Those with samples or waits, the most first; their texts are the requests'. Returns how many. */
static size_t sort_endpoints(const struct profile_result *result, struct endpoint **ret_sorted)
{
	const struct endpoint *first = requests_endpoints(result->requests);
	unsigned int hz = result->hz;
	struct endpoint *sorted;
	size_t count = 0;

	for (const struct endpoint *endpoint = first; endpoint; endpoint = endpoint->next)
		count += wall_ns(endpoint, hz) > 0;
	sorted = calloc(count + 1, sizeof(*sorted));
	*ret_sorted = sorted;
	if (!sorted)
		return 0;
	for (const struct endpoint *endpoint = first; endpoint; endpoint = endpoint->next)
		if (wall_ns(endpoint, hz))
			*sorted++ = *endpoint;
	qsort_r(*ret_sorted, count, sizeof(*sorted), compare, &hz);
	return count;
}

/* The function that most of its time on the CPU is in. */
static void find_hottest(const struct flame *tree, struct profile_line *line)
{
	__u64 most = 0, all;
	const char *name = flame_hottest(tree, &most);

	if (!name || !most)
		return;
	all = tree->total - line->waited_ns[PROFILE_BLOCKED] - line->waited_ns[PROFILE_RUN_QUEUE];
	line->hottest = name;
	line->hottest_share = (double)most / (double)all;
}

static struct profile_line line_of(const struct endpoint *endpoint,
				   const struct profile_result *result)
{
	struct profile_line line = {.service = endpoint->service,
				    .name = endpoint->name,
				    .samples = endpoint->samples,
				    .cpu_ns = cpu_ns(endpoint, result->hz),
				    .requests = endpoint->requests};

	for (size_t i = 0; i < PROFILE_WAITS; i++)
		line.waited_ns[i] = endpoint->waited_ns[i];
	if (endpoint->requests) {
		line.p50_ns = endpoint->up_to_ns[LATENCY_P50];
		line.p99_ns = endpoint->up_to_ns[LATENCY_P99];
	}
	return line;
}

/* What shares are of: what requests cost, unless there is nothing of it, or all is wanted. */
static __u64 shown_total(const struct profile_result *result)
{
	const struct flame *none = flame_child(result->root, ENDPOINT_NONE);

	if (result->all || !none || none->total == result->root->total)
		return result->root->total;
	return result->root->total - none->total;
}

/* The endpoint's share of what is shown, as the flame graph has it. */
static void print_endpoint(const struct endpoint *endpoint, const struct profile_result *result)
{
	const struct flame *tree = flame_of_endpoint(result->root, endpoint);
	struct profile_line line = line_of(endpoint, result);
	const __u64 total = shown_total(result);

	if (tree) {
		line.share = (double)tree->total / (double)total;
		find_hottest(tree, &line);
	}
	if (endpoint_is_none(endpoint->name) && total < result->root->total)
		line.share = PROFILE_NO_SHARE;
	profile_table_line(&line, result->off_cpu);
}

void profile_summary(const struct profile_result *result)
{
	struct endpoint *sorted;
	size_t found = sort_endpoints(result, &sorted);

	profile_table_head(result->off_cpu);
	for (size_t i = 0; i < found; i++)
		if (i < PROFILE_TABLE_ROWS || endpoint_is_none(sorted[i].name))
			print_endpoint(&sorted[i], result);
	free(sorted);
}

/* A label, and how many samples have it. */
struct label_count {
	json_t *counts; /* {KEY: {VALUE: samples}} */
	__u64 samples;
};

/* As a callback of labels_each(). */
static int count_label(const char *key, const char *value, void *data)
{
	const struct label_count *label = data;
	json_t *values = json_object_get(label->counts, key);
	const json_t *before;

	if (!values) {
		values = json_object();
		json_object_set_new(label->counts, key, values);
	}
	before = json_object_get(values, value);
	json_object_set_new(values, value,
			    json_integer(json_integer_value(before) + (json_int_t)label->samples));
	return 0;
}

struct counting {
	const struct profile_result *result;
	json_t *counts;
};

/* As a callback of samples_each(). */
static int count_labels(const struct stack *stack, void *data)
{
	const struct counting *counting = data;
	const struct labels *labels = samples_labels(counting->result->samples);
	const struct profiled_request request = stack_request(stack, counting->result->requests);

	if (filter_takes(counting->result->filter, stack, &request))
		labels_each(labels, stack->labels, count_label,
			    &(struct label_count){counting->counts, stack->count});
	return 0;
}

/* How many samples have each label of the programs' own, and what was lost of them. */
static json_t *labels_json(const struct profile_result *result)
{
	const struct labels *labels = samples_labels(result->samples);
	struct counting counting = {result, json_object()};

	samples_each(result->samples, count_labels, &counting);
	return json_pack("{so,sI,sI,sI,sI,sI}", "samples", counting.counts, "cut",
			 (json_int_t)labels->cut, "left_out", (json_int_t)labels->left_out,
			 "unnamed", (json_int_t)labels->unnamed, "conflicts",
			 (json_int_t)labels->conflicts, "conflicts_of_traces",
			 (json_int_t)samples_conflicts(result->samples));
}

/* How many waits have begun, and how many of them no time is told of; NULL: nobody has asked. */
static json_t *waits_json(const struct profile_result *result)
{
	if (!result->off_cpu)
		return NULL;
	return json_pack("{sI,sI}", "begun", (json_int_t)samples_waits(result->samples), "left_out",
			 (json_int_t)result->waits_left_out);
}

static json_t *endpoint_json(const struct endpoint *endpoint, const struct profile_result *result)
{
	const struct profile_line line = line_of(endpoint, result);

	return profile_table_json(&line, result->off_cpu);
}

int profile_summary_json(const struct profile_result *result)
{
	json_t *endpoints = json_array();
	struct endpoint *sorted;
	size_t found = sort_endpoints(result, &sorted);

	for (size_t i = 0; i < found; i++)
		json_array_append_new(endpoints, endpoint_json(&sorted[i], result));
	free(sorted);
	return json_print(json_pack(
	    "{so*,so*,sI,sI,si,sI,sI,sI,so,so}", "waits", waits_json(result), "servers",
	    result->servers ? servers_json(result->servers) : NULL, "start_ns",
	    (json_int_t)result->from_ns, "duration_ns",
	    (json_int_t)(result->to_ns - result->from_ns), "hz", (int)result->hz, "samples",
	    (json_int_t)samples_count(result->samples), "samples_of_requests",
	    (json_int_t)samples_in_requests(result->samples), "samples_lost",
	    (json_int_t)result->lost, "endpoints", endpoints, "labels", labels_json(result)));
}
