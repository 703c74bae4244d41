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

int profile_summary_json(const struct profile_result *result)
{
	json_t *endpoints = json_array();
	struct endpoint *sorted;
	size_t found = sort_endpoints(result, &sorted);

	for (size_t i = 0; i < found; i++)
		json_array_append_new(endpoints, endpoint_json(&sorted[i], result));
	free(sorted);
	return json_print(
	    json_pack("{sI,sI,si,sI,sI,sI,so}", "start_ns", (json_int_t)result->from_ns,
		      "duration_ns", (json_int_t)(result->to_ns - result->from_ns), "hz",
		      (int)result->hz, "samples", (json_int_t)samples_count(result->samples),
		      "samples_of_requests", (json_int_t)samples_in_requests(result->samples),
		      "samples_lost", (json_int_t)result->lost, "endpoints", endpoints));
}
