// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/profile_endpoints.h"
#include "cmd/profile_servers.h"
#include "cmd/profile_table.h"
#include "cmd/store.h"
#include "profile/message_endpoints.h"
#include "trace/busiest.h"
#include "trace/query_words.h"
#include "trace/span.h"

#define TITLE_MAX      1280
#define MINUTE_SECONDS 60

/* What is shown, and of what. */
struct showing {
	const struct message *message;
	const struct flame *root;
	const struct windows_said *said;
	struct message_endpoints endpoints;
	struct busiest busiest; /* all zero: there is no store */
	bool waits;
	bool all; /* what belongs to no request has its share */
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
			 struct profile_line *line)
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

/* How long its requests took meanwhile, by the store. */
static void find_durations(const struct showing *showing, struct profile_line *line)
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

/* Has it no share: are shares of what requests cost? Not if there is nothing of that. */
static bool is_left_out(const struct showing *showing)
{
	return !showing->all && showing->none_ns < showing->total_ns;
}

static struct profile_line line_of(const struct showing *showing,
				   const struct message_endpoint *endpoint)
{
	struct profile_line line = {.service = endpoint->service,
				    .name = endpoint->name,
				    .samples = endpoint->samples,
				    .cpu_ns = endpoint->cpu_ns,
				    .requests = endpoint->requests};

	for (size_t i = 0; i < PROFILE_WAITS; i++)
		line.waited_ns[i] = endpoint->waited_ns[i];
	find_durations(showing, &line);
	return line;
}

static double share(const struct showing *showing, const struct message_endpoint *endpoint)
{
	const __u64 of = showing->total_ns - (is_left_out(showing) ? showing->none_ns : 0);

	if (is_none(endpoint) && is_left_out(showing))
		return PROFILE_NO_SHARE;
	return (double)wall_ns(endpoint) / (double)of;
}

static void print_table(struct showing *showing)
{
	const struct message_endpoints *endpoints = &showing->endpoints;

	add_up(showing);
	profile_table_head(showing->waits);
	for (size_t i = 0; i < endpoints->count; i++) {
		const struct message_endpoint *endpoint = &endpoints->endpoint[i];
		struct profile_line line = line_of(showing, endpoint);

		if (!wall_ns(endpoint) || (i >= PROFILE_TABLE_ROWS && !is_none(endpoint)))
			continue;
		line.share = share(showing, endpoint);
		find_hottest(showing, endpoint, &line);
		profile_table_line(&line, showing->waits);
	}
	profile_print_servers(&endpoints->servers);
	if (endpoints->lost)
		fprintf(stderr, "profile: %llu samples were lost when it was taken\n",
			endpoints->lost);
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
	json_t *array = json_array();
	__u64 samples = 0;

	for (size_t i = 0; i < endpoints->count; i++) {
		const struct message_endpoint *endpoint = &endpoints->endpoint[i];
		const struct profile_line line = line_of(showing, endpoint);
		json_t *object = profile_table_json(&line, showing->waits);

		json_object_set_new(object, "cpu_ns_by_bucket", buckets_json(endpoint));
		json_array_append_new(array, object);
		samples += endpoint->samples;
	}
	return json_print(json_pack(
	    "{so*,so*,sI,sI,sI,sI,so}", "windows", windows_json(showing->said), "servers",
	    servers_json(&endpoints->servers), "start_ns",
	    (json_int_t)showing->message->profile->time_nanos, "duration_ns",
	    (json_int_t)showing->message->profile->duration_nanos, "samples", (json_int_t)samples,
	    "samples_lost", (json_int_t)endpoints->lost, "endpoints", array));
}

/* Of the whole minutes since the first window. Without a store nothing is known. */
static void read_durations(struct showing *showing)
{
	const __s64 minute = showing->said->time.from_s / MINUTE_SECONDS,
		    now = query_now_ns() / (__s64)NS_PER_SECOND / MINUTE_SECONDS;
	sqlite3 *db = command_try_store();

	if (db && now >= minute && now - minute <= WINDOWS_SECONDS / MINUTE_SECONDS + 2)
		busiest_read(db, (unsigned int)(now - minute), &showing->busiest);
	sqlite3_close(db);
}

int profile_show_endpoints(const struct profile_reading *reading, const struct message *message,
			   const struct flame *root, const struct windows_said *said)
{
	struct showing showing = {.message = message,
				  .root = root,
				  .said = said,
				  .waits = message_has_waits(message),
				  .all = reading->all};
	int exit_code = COMMAND_OK;

	if (message_endpoints(message, &showing.endpoints))
		return command_refuse("out of memory");
	if (showing.endpoints.count)
		qsort(showing.endpoints.endpoint, showing.endpoints.count,
		      sizeof(*showing.endpoints.endpoint), compare);
	if (said)
		read_durations(&showing);
	if (reading->json)
		exit_code = print_json(&showing);
	else
		print_table(&showing);
	busiest_free(&showing.busiest);
	message_endpoints_free(&showing.endpoints);
	return exit_code;
}
