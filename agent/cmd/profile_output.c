// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/profile_output.h"
#include "cmd/profile_write.h"
#include "cmd/safe.h"
#include "cmd/waterfall.h"
#include "profile/flame_message.h"
#include "profile/out/otlp.h"
#include "profile/out/speedscope.h"
#include "profile/pprof.h"
#include "trace/json.h"

struct profile_format {
	const char *name, *ending;
	/* Of samples, and of what was read; 0 or -errno. NULL: samples are converted. */
	int (*write)(const struct profile_result *result, FILE *out);
	int (*write_message)(const struct message *message, FILE *out);
	bool has_links; /* to spans, without labels for them */
};

static int write_pprof(const struct profile_result *result, FILE *out)
{
	const struct pprof_options options = {.from_ns = result->from_ns,
					      .duration_ns = result->to_ns - result->from_ns,
					      .hz = result->hz,
					      .off_cpu = result->off_cpu,
					      .filter = result->filter,
					      .ids = result->ids};

	return pprof_write(result->samples, result->names, result->requests, &options, out);
}

static int write_svg(const struct profile_result *result, FILE *out)
{
	char title[128];

	if (result->off_cpu)
		snprintf(title, sizeof(title),
			 "Wall-clock time by endpoint: %.3f s, on the CPU by samples at %u Hz",
			 (double)result->root->total / (double)NS_PER_SECOND, result->hz);
	else
		snprintf(title, sizeof(title), "CPU by endpoint: %llu samples at %u Hz",
			 result->root->total, result->hz);
	flame_write_svg(result->root, result->off_cpu ? FLAME_NS : FLAME_SAMPLES, title, out);
	return 0;
}

static int write_folded(const struct profile_result *result, FILE *out)
{
	flame_write_folded(result->root, out);
	return 0;
}

static int write_svg_of(const struct message *message, FILE *out)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);
	char title[128];

	if (!root)
		return -ENOMEM;
	if (flame_unit_of(&weight) == FLAME_NS)
		snprintf(title, sizeof(title), "Time by endpoint: %.3f s",
			 (double)root->total / (double)NS_PER_SECOND);
	else
		snprintf(title, sizeof(title), "CPU by endpoint: %llu samples", root->total);
	flame_write_svg(root, flame_unit_of(&weight), title, out);
	flame_free(root);
	return 0;
}

static int write_folded_of(const struct message *message, FILE *out)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);

	if (!root)
		return -ENOMEM;
	flame_write_folded(root, out);
	flame_free(root);
	return 0;
}

static const struct profile_format formats[] = {
    {"pprof", ".pb.gz", write_pprof, message_write, false},
    {"svg", ".svg", write_svg, write_svg_of, false},
    {"folded", ".folded", write_folded, write_folded_of, false},
    {"speedscope", ".json", NULL, speedscope_write, false},
    {"otlp", ".otlp", NULL, otlp_profile_write, true},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

bool profile_format_is(const struct profile_format *format, const char *name)
{
	return !strcmp(format->name, name);
}

const struct profile_format *profile_format_named(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (!strcmp(name, formats[i].name))
			return &formats[i];
	return NULL;
}

const struct profile_format *profile_format_of_file(const char *file)
{
	size_t length = strlen(file);

	for (size_t i = 0; i < FORMATS; i++) {
		size_t ending = strlen(formats[i].ending);

		if (length > ending && !strcmp(file + length - ending, formats[i].ending))
			return &formats[i];
	}
	return NULL;
}

/* A file that is to be written. */
struct writing {
	const struct profile_format *format;
	const struct profile_result *result;
};

/* Of samples by way of pprof, as of a file that is read. Ids: OTLP has a place of its own for them.
 */
static int write_converted(const struct profile_format *format, const struct profile_result *result,
			   FILE *out)
{
	struct profile_result with_ids = *result;
	_cleanup_free_ char *bytes = NULL;
	char why[MESSAGE_WHY_MAX];
	struct message message;
	size_t size = 0;
	FILE *stream = open_memstream(&bytes, &size);
	int err = stream ? 0 : -ENOMEM;

	with_ids.ids = result->ids || format->has_links;
	if (!err)
		err = write_pprof(&with_ids, stream);
	if (stream && fclose(stream) && !err)
		err = -ENOMEM;
	if (!err)
		err = message_parse((const __u8 *)bytes, size, &message, why);
	if (err)
		return err;
	if (result->tags)
		err = tags_apply(result->tags, &message);
	if (!err)
		err = format->write_message(&message, out);
	message_free(&message);
	return err;
}

static int write_format(const void *data, FILE *out)
{
	const struct writing *writing = data;
	const struct profile_format *format = writing->format;

	if (format->write && !writing->result->tags)
		return format->write(writing->result, out);
	return write_converted(format, writing->result, out);
}

int profile_write(const struct profile_format *format, const char *file,
		  const struct profile_result *result)
{
	const struct writing writing = {format, result};

	return profile_write_file(file, write_format, &writing);
}

/* A message that is to be written. */
struct message_writing {
	const struct profile_format *format;
	const struct message *message;
};

static int write_message_format(const void *data, FILE *out)
{
	const struct message_writing *writing = data;

	return writing->format->write_message(writing->message, out);
}

int profile_write_message(const struct profile_format *format, const char *file,
			  const struct message *message)
{
	const struct message_writing writing = {format, message};

	return profile_write_file(file, write_message_format, &writing);
}

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

static int compare(const void *a, const void *b, void *hz)
{
	const __u64 first = wall_ns(a, *(unsigned int *)hz),
		    second = wall_ns(b, *(unsigned int *)hz);

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

/* How long each of the requests was at something. */
static void print_share(const struct endpoint *endpoint, __u64 ns)
{
	if (endpoint->requests)
		printf("%12.3f ", (double)ns / 1e6 / (double)endpoint->requests);
	else
		printf("%12s ", "-");
}

/* How many requests there were, what each has cost, and how long they took. */
static void print_requests(const struct endpoint *endpoint, const struct profile_result *result)
{
	char p50[WATERFALL_DURATION_MAX], p99[WATERFALL_DURATION_MAX];

	if (endpoint->requests)
		printf("%10llu ", endpoint->requests);
	else
		printf("%10s ", "-");
	print_share(endpoint, cpu_ns(endpoint, result->hz));
	for (size_t i = 0; result->off_cpu && i < PROFILE_WAITS; i++)
		print_share(endpoint, endpoint->waited_ns[i]);
	if (endpoint->requests)
		printf("%9s %9s  ", waterfall_duration(p50, endpoint->up_to_ns[LATENCY_P50]),
		       waterfall_duration(p99, endpoint->up_to_ns[LATENCY_P99]));
	else
		printf("%9s %9s  ", "-", "-");
}

/* Its share is that of the time on the CPU. */
static void print_hottest(const struct endpoint *endpoint, const struct flame *root)
{
	const struct flame *tree = flame_of_endpoint(root, endpoint);
	__u64 most = 0, all;
	const char *name = tree ? flame_hottest(tree, &most) : NULL;

	if (!name || !most)
		return;
	all = tree->total - endpoint->waited_ns[PROFILE_BLOCKED] -
	      endpoint->waited_ns[PROFILE_RUN_QUEUE];
	fputs("  ", stdout);
	safe_print(name);
	printf(" %.0f%%", 100.0 * (double)most / (double)all);
}

/* The endpoint's share of what was seen, as the flame graph has it. */
static double share_of(const struct endpoint *endpoint, const struct profile_result *result)
{
	const struct flame *tree = flame_of_endpoint(result->root, endpoint);

	return tree ? 100.0 * (double)tree->total / (double)result->root->total : 0;
}

static void print_endpoint(const struct endpoint *endpoint, const struct profile_result *result)
{
	printf("%8llu %6.1f%% %8.0f ", endpoint->samples, share_of(endpoint, result),
	       (double)cpu_ns(endpoint, result->hz) / 1e6);
	print_requests(endpoint, result);
	safe_print(endpoint->service);
	printf("%s", *endpoint->service ? " " : "");
	safe_print(endpoint->name);
	print_hottest(endpoint, result->root);
	putchar('\n');
}

void profile_summary(const struct profile_result *result, size_t count)
{
	struct endpoint *sorted;
	size_t found = sort_endpoints(result, &sorted);

	printf("%8s %7s %8s %10s %12s ", "SAMPLES", "SHARE", "CPU MS", "REQUESTS", "MS/REQUEST");
	if (result->off_cpu)
		printf("%12s %12s ", "+ BLOCKED", "+ RUN QUEUE");
	printf("%9s %9s  %s\n", "P50", "P99", "ENDPOINT  HOTTEST FUNCTION");
	for (size_t i = 0; i < found && i < count; i++)
		print_endpoint(&sorted[i], result);
	free(sorted);
}

static json_t *endpoint_json(const struct endpoint *endpoint, const struct profile_result *result)
{
	json_t *object = json_pack("{sI,sI}", "samples", (json_int_t)endpoint->samples, "cpu_ns",
				   (json_int_t)cpu_ns(endpoint, result->hz));

	if (result->off_cpu)
		json_object_update_new(
		    object,
		    json_pack("{sI,sI}", "blocked_ns",
			      (json_int_t)endpoint->waited_ns[PROFILE_BLOCKED], "run_queue_ns",
			      (json_int_t)endpoint->waited_ns[PROFILE_RUN_QUEUE]));
	json_set_text(object, "endpoint", endpoint->name);
	if (*endpoint->service)
		json_set_text(object, "service", endpoint->service);
	if (endpoint->requests)
		json_object_update_new(
		    object, json_pack("{sI,sI,sI}", "requests", (json_int_t)endpoint->requests,
				      "p50_ns", (json_int_t)endpoint->up_to_ns[LATENCY_P50],
				      "p99_ns", (json_int_t)endpoint->up_to_ns[LATENCY_P99]));
	return object;
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
	const struct profiled_request request =
	    requests_find(counting->result->requests, stack->trace_id, stack->request_span);

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

int profile_summary_json(const struct profile_result *result)
{
	json_t *endpoints = json_array();
	struct endpoint *sorted;
	size_t found = sort_endpoints(result, &sorted);

	for (size_t i = 0; i < found; i++)
		json_array_append_new(endpoints, endpoint_json(&sorted[i], result));
	free(sorted);
	return json_print(json_pack(
	    "{so*,sI,sI,si,sI,sI,sI,so,so}", "waits", waits_json(result), "start_ns",
	    (json_int_t)result->from_ns, "duration_ns",
	    (json_int_t)(result->to_ns - result->from_ns), "hz", (int)result->hz, "samples",
	    (json_int_t)samples_count(result->samples), "samples_of_requests",
	    (json_int_t)samples_in_requests(result->samples), "samples_lost",
	    (json_int_t)result->lost, "endpoints", endpoints, "labels", labels_json(result)));
}
