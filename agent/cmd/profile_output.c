// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <jansson.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/profile_output.h"
#include "cmd/safe.h"
#include "cmd/waterfall.h"
#include "profile/pprof.h"
#include "trace/json.h"

#define FILE_MODE 0644

struct profile_format {
	const char *name, *ending;
	int (*write)(const struct profile_result *result, FILE *out); /* 0 or -errno */
};

static int write_pprof(const struct profile_result *result, FILE *out)
{
	const struct pprof_options options = {.from_ns = result->from_ns,
					      .duration_ns = result->to_ns - result->from_ns,
					      .hz = result->hz,
					      .filter = result->filter,
					      .ids = result->ids};

	return pprof_write(result->samples, result->names, result->requests, &options, out);
}

static int write_svg(const struct profile_result *result, FILE *out)
{
	char title[128];

	snprintf(title, sizeof(title), "CPU by endpoint: %llu samples at %u Hz",
		 result->root->total, result->hz);
	flame_write_svg(result->root, title, out);
	return 0;
}

static int write_folded(const struct profile_result *result, FILE *out)
{
	flame_write_folded(result->root, out);
	return 0;
}

static const struct profile_format formats[] = {
    {"pprof", ".pb.gz", write_pprof},
    {"svg", ".svg", write_svg},
    {"folded", ".folded", write_folded},
};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

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

static int fill(int fd, const struct profile_format *format, const struct profile_result *result)
{
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	err = format->write(result, out);
	if (!err && (ferror(out) || fflush(out) || fchmod(fd, FILE_MODE)))
		err = errno ? -errno : -EIO;
	return fclose(out) && !err ? -errno : err;
}

/* Beside it, then under its name: there is never half a file. */
int profile_write(const struct profile_format *format, const char *file,
		  const struct profile_result *result)
{
	char beside[4096];
	int fd, err;

	if (snprintf(beside, sizeof(beside), "%s.XXXXXX", file) >= (int)sizeof(beside))
		return command_refuse("--output: the name is too long");
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return command_refuse("%s: %s", file, strerror(errno));
	err = fill(fd, format, result);
	if (!err && rename(beside, file))
		err = -errno;
	if (!err)
		return COMMAND_OK;
	unlink(beside);
	return command_refuse("%s: %s", file, strerror(-err));
}

static int compare(const void *a, const void *b)
{
	const struct endpoint *first = a, *second = b;

	return (first->samples < second->samples) - (first->samples > second->samples);
}

/* Those with samples, the most first; their texts are the requests'. Returns how many. */
static size_t sort_endpoints(const struct requests *requests, struct endpoint **ret_sorted)
{
	const struct endpoint *first = requests_endpoints(requests);
	struct endpoint *sorted;
	size_t count = 0;

	for (const struct endpoint *endpoint = first; endpoint; endpoint = endpoint->next)
		count += endpoint->samples > 0;
	sorted = calloc(count + 1, sizeof(*sorted));
	*ret_sorted = sorted;
	if (!sorted)
		return 0;
	for (const struct endpoint *endpoint = first; endpoint; endpoint = endpoint->next)
		if (endpoint->samples)
			*sorted++ = *endpoint;
	qsort(*ret_sorted, count, sizeof(*sorted), compare);
	return count;
}

/* How many requests there were, what each has cost, and how long they took. */
static void print_requests(const struct endpoint *endpoint, double ms)
{
	char p50[WATERFALL_DURATION_MAX], p99[WATERFALL_DURATION_MAX];

	if (endpoint->requests)
		printf("%10llu %12.3f %9s %9s  ", endpoint->requests,
		       ms / (double)endpoint->requests,
		       waterfall_duration(p50, endpoint->up_to_ns[LATENCY_P50]),
		       waterfall_duration(p99, endpoint->up_to_ns[LATENCY_P99]));
	else
		printf("%10s %12s %9s %9s  ", "-", "-", "-", "-");
}

static void print_hottest(const struct endpoint *endpoint, const struct flame *root)
{
	const struct flame *tree = flame_of_endpoint(root, endpoint);
	__u64 samples = 0;
	const char *name = tree ? flame_hottest(tree, &samples) : NULL;

	if (!name)
		return;
	fputs("  ", stdout);
	safe_print(name);
	printf(" %.0f%%", 100.0 * (double)samples / (double)tree->total);
}

static void print_endpoint(const struct endpoint *endpoint, const struct profile_result *result)
{
	double ms = 1000.0 * (double)endpoint->samples / result->hz;

	printf("%8llu %6.1f%% %8.0f ", endpoint->samples,
	       100.0 * (double)endpoint->samples / (double)result->root->total, ms);
	print_requests(endpoint, ms);
	safe_print(endpoint->service);
	printf("%s", *endpoint->service ? " " : "");
	safe_print(endpoint->name);
	print_hottest(endpoint, result->root);
	putchar('\n');
}

void profile_summary(const struct profile_result *result, size_t count)
{
	struct endpoint *sorted;
	size_t found = sort_endpoints(result->requests, &sorted);

	printf("%8s %7s %8s %10s %12s %9s %9s  %s\n", "SAMPLES", "SHARE", "CPU MS", "REQUESTS",
	       "MS/REQUEST", "P50", "P99", "ENDPOINT  HOTTEST FUNCTION");
	for (size_t i = 0; i < found && i < count; i++)
		print_endpoint(&sorted[i], result);
	free(sorted);
}

static json_t *endpoint_json(const struct endpoint *endpoint, const struct profile_result *result)
{
	json_t *object = json_pack("{sI,sI}", "samples", (json_int_t)endpoint->samples, "cpu_ns",
				   (json_int_t)(endpoint->samples * NS_PER_SECOND / result->hz));

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

int profile_summary_json(const struct profile_result *result)
{
	json_t *endpoints = json_array();
	struct endpoint *sorted;
	size_t found = sort_endpoints(result->requests, &sorted);

	for (size_t i = 0; i < found; i++)
		json_array_append_new(endpoints, endpoint_json(&sorted[i], result));
	free(sorted);
	return json_print(json_pack(
	    "{sI,sI,si,sI,sI,sI,so,so}", "start_ns", (json_int_t)result->from_ns, "duration_ns",
	    (json_int_t)(result->to_ns - result->from_ns), "hz", (int)result->hz, "samples",
	    (json_int_t)samples_count(result->samples), "samples_of_requests",
	    (json_int_t)samples_in_requests(result->samples), "samples_lost",
	    (json_int_t)result->lost, "endpoints", endpoints, "labels", labels_json(result)));
}
