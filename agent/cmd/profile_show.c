// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/foreign.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/profile_show.h"
#include "cmd/store.h"
#include "cmd/waterfall.h"
#include "profile/draw/flame.h"
#include "profile/message/endpoints.h"
#include "trace/busiest.h"
#include "trace/json.h"
#include "trace/query_words.h"
#include "trace/span.h"

#define ROWS           20
#define NO_SHARE       (-1.0)
#define TITLE_MAX      1280
#define MINUTE_SECONDS 60

/* An endpoint; what is 0 or NULL is not known. */
struct line {
	const char *service, *name;
	__u64 samples, cpu_ns;
	__u64 waited_ns[PROFILE_WAITS];
	__u64 requests;
	__s64 p50_ns, p99_ns; /* of how long they took */
	double share;         /* of what is shown, 0 to 1; NO_SHARE: it is not among that */
	const char *hottest;  /* function */
	double hottest_share; /* of its time on the CPU, 0 to 1 */
};

/* `waits`: with what threads have waited for. */
static void print_head(bool waits)
{
	printf("%8s %7s %8s %10s %12s ", "SAMPLES", "SHARE", "CPU MS", "REQUESTS", "MS/REQUEST");
	if (waits)
		printf("%12s %12s ", "+ BLOCKED", "+ RUN QUEUE");
	printf("%9s %9s  %s\n", "P50", "P99", "ENDPOINT  HOTTEST FUNCTION");
}

/* A time divided by the number of requests, in milliseconds. */
static void print_each(const struct line *line, __u64 ns)
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
static void print_requests(const struct line *line, bool waits)
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

static void print_line(const struct line *line, bool waits)
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

static void add_requests(json_t *object, const struct line *line)
{
	json_object_update_new(object, json_pack("{sI,sI}", "requests", (json_int_t)line->requests,
						 "cpu_ns_per_request",
						 (json_int_t)(line->cpu_ns / line->requests)));
	if (line->p50_ns || line->p99_ns)
		json_object_update_new(object,
				       json_pack("{sI,sI}", "p50_ns", (json_int_t)line->p50_ns,
						 "p99_ns", (json_int_t)line->p99_ns));
}

/* Without its share and its function. */
static json_t *line_json(const struct line *line, bool waits)
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

/* What is shown, and of what. */
struct showing {
	const struct profile_wanted *wanted;
	const struct message *message;
	const struct flame *root;
	const struct profile_told *told;
	struct message_endpoints endpoints;
	struct busiest busiest; /* all zero: there is no store */
	bool waits;
	__u64 total_ns, none_ns;
};

static __u64 wall_ns(const struct message_endpoint *endpoint)
{
	return endpoint->cpu_ns + endpoint->waited_ns[PROFILE_BLOCKED] +
	       endpoint->waited_ns[PROFILE_RUN_QUEUE];
}

static bool is_none(const struct message_endpoint *endpoint)
{
	return endpoint_is_none(endpoint->name);
}

/* What belongs to no request comes last. */
static int compare(const void *a, const void *b)
{
	const __u64 first = wall_ns(a), second = wall_ns(b);

	if (is_none(a) != is_none(b))
		return is_none(a) ? 1 : -1;
	return (first < second) - (first > second);
}

/* The tree of an endpoint, as message_title() calls it; NULL: it has no samples. */
static const struct flame *tree_of(const struct showing *showing,
				   const struct message_endpoint *endpoint)
{
	char title[TITLE_MAX];

	snprintf(title, sizeof(title), "%s%s%s", endpoint->service, *endpoint->service ? " " : "",
		 endpoint->name);
	return flame_child(showing->root, title);
}

static void find_hottest(const struct showing *showing, const struct message_endpoint *endpoint,
			 struct line *line)
{
	const struct flame *tree = tree_of(showing, endpoint);
	__u64 most = 0;
	const char *name = tree ? flame_hottest(tree, &most) : NULL;
	const __u64 all = showing->waits ? endpoint->cpu_ns : tree ? tree->total : 0;

	if (!name || !most || !all)
		return;
	line->hottest = name;
	line->hottest_share = (double)most / (double)all;
}

/* How long its requests took, by those that were read for the samples. */
static void take_durations(const struct showing *showing, struct line *line)
{
	const struct endpoint *endpoint = requests_endpoints(showing->told->requests);

	while (endpoint && (strcmp(endpoint->service, line->service) != 0 ||
			    strcmp(endpoint->name, line->name) != 0))
		endpoint = endpoint->next;
	if (!endpoint || !endpoint->requests)
		return;
	line->p50_ns = endpoint->up_to_ns[LATENCY_P50];
	line->p99_ns = endpoint->up_to_ns[LATENCY_P99];
}

/* The same by the store, of the time of windows. */
static void find_durations(const struct showing *showing, struct line *line)
{
	char name[TITLE_MAX];

	for (size_t i = 0; i < showing->busiest.count; i++) {
		const struct busy *busy = &showing->busiest.busy[i];

		snprintf(name, sizeof(name), "%s %s", busy->method, busy->route);
		if (busy->kind != SPAN_SERVER || strcmp(busy->service, line->service) != 0 ||
		    strcmp(name, line->name) != 0)
			continue;
		line->p50_ns = (__s64)busiest_percentile(busy, 50);
		line->p99_ns = (__s64)busiest_percentile(busy, 99);
	}
}

/* What all endpoints cost, and what belongs to no request. */
static void add_up(struct showing *showing)
{
	const struct message_endpoints *endpoints = &showing->endpoints;

	for (size_t i = 0; i < endpoints->count; i++) {
		const __u64 ns = wall_ns(&endpoints->endpoint[i]);

		showing->total_ns += ns;
		showing->none_ns += is_none(&endpoints->endpoint[i]) ? ns : 0;
	}
}

/*
 * Has it no share, because shares are of the cost of requests? Not if requests have cost nothing.
 */
static bool is_left_out(const struct showing *showing)
{
	return !showing->wanted->all && showing->none_ns < showing->total_ns;
}

static struct line line_of(const struct showing *showing, const struct message_endpoint *endpoint)
{
	struct line line = {.service = endpoint->service,
			    .name = endpoint->name,
			    .samples = endpoint->samples,
			    .cpu_ns = endpoint->cpu_ns,
			    .requests = endpoint->requests};

	for (size_t i = 0; i < PROFILE_WAITS; i++)
		line.waited_ns[i] = endpoint->waited_ns[i];
	if (showing->told->requests)
		take_durations(showing, &line);
	else
		find_durations(showing, &line);
	return line;
}

static double share(const struct showing *showing, const struct message_endpoint *endpoint)
{
	const __u64 of = showing->total_ns - (is_left_out(showing) ? showing->none_ns : 0);

	if (is_none(endpoint) && is_left_out(showing))
		return NO_SHARE;
	return (double)wall_ns(endpoint) / (double)of;
}

static void print_table(struct showing *showing)
{
	const struct message_endpoints *endpoints = &showing->endpoints;

	add_up(showing);
	print_head(showing->waits);
	for (size_t i = 0; i < endpoints->count; i++) {
		const struct message_endpoint *endpoint = &endpoints->endpoint[i];
		struct line line = line_of(showing, endpoint);

		if (!wall_ns(endpoint) || (i >= ROWS && !is_none(endpoint)))
			continue;
		line.share = share(showing, endpoint);
		find_hottest(showing, endpoint, &line);
		print_line(&line, showing->waits);
	}
}

static json_t *buckets_json(const struct message_endpoint *endpoint)
{
	json_t *object = json_object();

	for (enum latency i = LATENCY_P50; i < LATENCIES; i++)
		json_object_set_new(object, latency_name(i),
				    json_integer((json_int_t)endpoint->bucket_ns[i]));
	return object;
}

static json_t *windows_json(const struct windows_said *said)
{
	if (!said)
		return NULL;
	return json_pack("{sI,sI,sI,sI,sI}", "count", (json_int_t)said->count, "unreadable",
			 (json_int_t)said->unreadable, "left_out", (json_int_t)said->left_out,
			 "from_s", (json_int_t)said->time.from_s, "to_s",
			 (json_int_t)said->time.to_s);
}

static int print_json(const struct showing *showing)
{
	const struct message_endpoints *endpoints = &showing->endpoints;
	const Perftools__Profiles__Profile *profile = showing->message->profile;
	json_t *array = json_array(), *object;
	__u64 samples = 0;

	for (size_t i = 0; i < endpoints->count; i++) {
		const struct message_endpoint *endpoint = &endpoints->endpoint[i];
		const struct line line = line_of(showing, endpoint);

		object = line_json(&line, showing->waits);
		json_object_set_new(object, "cpu_ns_by_bucket", buckets_json(endpoint));
		json_array_append_new(array, object);
		samples += endpoint->samples;
	}
	object = json_pack(
	    "{so*,so*,sI,sI,sI,sI,so}", "windows", windows_json(showing->told->windows), "servers",
	    servers_json(&endpoints->servers), "start_ns", (json_int_t)profile->time_nanos,
	    "duration_ns", (json_int_t)profile->duration_nanos, "samples", (json_int_t)samples,
	    "samples_lost", (json_int_t)endpoints->lost, "endpoints", array);
	if (showing->told->more)
		json_object_update(object, showing->told->more);
	return json_print(object);
}

/* Print on standard error what is not included in the shares. */
static void print_rest(const struct showing *showing)
{
	const struct message_endpoints *endpoints = &showing->endpoints;
	char text[SERVERS_TEXT_MAX];

	if (endpoints->servers.samples)
		fprintf(stderr, "profile: %s\n", servers_text(&endpoints->servers, text));
	if (endpoints->lost && !showing->told->requests)
		fprintf(stderr, "profile: %llu samples were lost when it was taken\n",
			endpoints->lost);
}

/* Of the whole minutes since the first window. Without a store nothing is known. */
static void read_durations(struct showing *showing)
{
	const __s64 minute = showing->told->windows->time.from_s / MINUTE_SECONDS,
		    now = query_now_ns() / (__s64)NS_PER_SECOND / MINUTE_SECONDS;
	sqlite3 *db = command_try_store();

	if (db && now >= minute && now - minute <= WINDOWS_SECONDS / MINUTE_SECONDS + 2)
		busiest_read(db, (unsigned int)(now - minute), &showing->busiest);
	sqlite3_close(db);
}

/* The endpoints of a profile of ours. */
static int show_endpoints(const struct profile_wanted *wanted, const struct message *message,
			  const struct flame *root, const struct profile_told *told)
{
	struct showing showing = {.wanted = wanted,
				  .message = message,
				  .root = root,
				  .told = told,
				  .waits = message_has_waits(message)};
	int exit_code = COMMAND_OK;

	if (message_endpoints(message, &showing.endpoints))
		return command_refuse("out of memory");
	if (showing.endpoints.count)
		qsort(showing.endpoints.endpoint, showing.endpoints.count,
		      sizeof(*showing.endpoints.endpoint), compare);
	if (told->windows)
		read_durations(&showing);
	if (wanted->json)
		exit_code = print_json(&showing);
	else
		print_table(&showing);
	if (!wanted->json || told->requests)
		print_rest(&showing);
	busiest_free(&showing.busiest);
	message_endpoints_free(&showing.endpoints);
	return exit_code;
}

static int compare_width(const void *a, const void *b)
{
	const struct flame *first = *(const struct flame *const *)a;
	const struct flame *second = *(const struct flame *const *)b;

	return (first->total < second->total) - (first->total > second->total);
}

/* The children of the root, the widest first. Returns their number. */
static size_t sort_children(const struct flame *root, const struct flame ***ret)
{
	const struct flame **sorted;
	size_t count = 0;

	for (const struct flame *child = root->child; child; child = child->sibling)
		count++;
	sorted = calloc(count + 1, sizeof(const struct flame *));
	*ret = sorted;
	if (!sorted)
		return 0;
	for (const struct flame *child = root->child; child; child = child->sibling)
		*sorted++ = child;
	qsort(*ret, count, sizeof(const struct flame *), compare_width);
	return count;
}

static void print_child(const struct flame *child, const struct flame *root, enum flame_unit unit)
{
	const double amount = unit == FLAME_NS ? (double)child->total / 1e6 : (double)child->total;
	__u64 hottest = 0;
	const char *name = flame_hottest(child, &hottest);

	printf("%10.0f %6.1f%%  ", amount, 100.0 * (double)child->total / (double)root->total);
	foreign_print(child->name);
	if (name && hottest) {
		fputs("  ", stdout);
		foreign_print(name);
		printf(" %.0f%%", 100.0 * (double)hottest / (double)child->total);
	}
	putchar('\n');
}

static void print_tree(const struct flame *root, enum flame_unit unit)
{
	const struct flame **sorted;
	size_t count = sort_children(root, &sorted);

	printf("%10s %7s  %s\n", unit == FLAME_NS ? "MS" : "SAMPLES", "SHARE",
	       "ENDPOINT  HOTTEST FUNCTION");
	for (size_t i = 0; i < count && i < ROWS; i++)
		print_child(sorted[i], root, unit);
	free(sorted);
}

static int print_tree_json(const struct flame *root, enum flame_unit unit)
{
	const char *key = unit == FLAME_NS ? "ns" : "samples";
	json_t *endpoints = json_array();
	const struct flame **sorted;
	size_t count = sort_children(root, &sorted);

	for (size_t i = 0; i < count; i++) {
		json_t *object = json_pack("{sI}", key, (json_int_t)sorted[i]->total);

		json_set_text(object, "endpoint", sorted[i]->name);
		json_array_append_new(endpoints, object);
	}
	free(sorted);
	return json_print(
	    json_pack("{sI,so}", key, (json_int_t)root->total, "endpoints", endpoints));
}

/* Of profiles of other programs. */
static int show_tree(const struct profile_wanted *wanted, const struct message_weight *weight,
		     const struct flame *root)
{
	if (wanted->json)
		return print_tree_json(root, flame_unit_of(weight));
	print_tree(root, flame_unit_of(weight));
	return COMMAND_OK;
}

int profile_show(const struct profile_wanted *wanted, const struct message *message,
		 const struct profile_told *told)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);
	int exit_code;

	if (!root)
		return command_refuse("out of memory");
	if (message_has_endpoints(message))
		exit_code = show_endpoints(wanted, message, root, told);
	else
		exit_code = show_tree(wanted, &weight, root);
	flame_free(root);
	return exit_code;
}
