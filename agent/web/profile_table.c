// SPDX-License-Identifier: Apache-2.0
#include <string.h>
#include <jansson.h>

#include "profile/message/endpoints.h"
#include "trace/json.h"
#include "web/profile_answer.h"

#define ENDPOINTS_MAX 1000

static void set_number(json_t *object, const char *name, __u64 number)
{
	json_object_set_new(object, name, json_integer((json_int_t)number));
}

/* CPU time by how slow the requests were; "other": of such that have not ended, or are none. */
static json_t *buckets_json(const struct message_endpoint *endpoint)
{
	json_t *object = json_object();

	for (enum latency i = LATENCY_UNKNOWN; i < LATENCIES; i++)
		set_number(object, i == LATENCY_UNKNOWN ? "other" : latency_name(i),
			   endpoint->bucket_ns[i]);
	return object;
}

static json_t *endpoint_json(const struct message_endpoint *endpoint)
{
	json_t *object = json_object();

	json_set_text(object, "service", *endpoint->service ? endpoint->service : NULL);
	json_set_text(object, "endpoint", endpoint->name);
	set_number(object, "requests", endpoint->requests);
	set_number(object, "samples", endpoint->samples);
	set_number(object, "cpu_ns", endpoint->cpu_ns);
	if (endpoint->requests)
		set_number(object, "cpu_ns_per_request", endpoint->cpu_ns / endpoint->requests);
	set_number(object, "blocked_ns", endpoint->waited_ns[PROFILE_BLOCKED]);
	set_number(object, "run_queue_ns", endpoint->waited_ns[PROFILE_RUN_QUEUE]);
	json_object_set_new(object, "bucket_cpu_ns", buckets_json(endpoint));
	return object;
}

static void set_endpoints(json_t *document, const struct message_endpoints *endpoints)
{
	json_t *list = json_object_get(document, "endpoints");
	json_t *servers = servers_json(&endpoints->servers);
	__u64 samples = 0, cpu_ns = 0, none_ns = 0;

	for (size_t i = 0; i < endpoints->count; i++) {
		const struct message_endpoint *endpoint = &endpoints->endpoint[i];

		samples += endpoint->samples;
		cpu_ns += endpoint->cpu_ns;
		none_ns += endpoint_is_none(endpoint->name) ? endpoint->cpu_ns : 0;
		if (i < ENDPOINTS_MAX || endpoint_is_none(endpoint->name))
			json_array_append_new(list, endpoint_json(endpoint));
	}
	set_number(document, "samples", samples);
	set_number(document, "cpu_ns", cpu_ns);
	set_number(document, "requests_cpu_ns", cpu_ns - none_ns);
	set_number(document, "lost", endpoints->lost);
	if (servers)
		json_object_set_new(document, "servers", servers);
	json_object_set_new(document, "cut", json_boolean(endpoints->count > ENDPOINTS_MAX));
}

static json_t *windows_json(const struct windows_said *windows)
{
	json_t *document = json_object();

	/* A daemon that has ever kept a profile has made the folder. */
	json_object_set_new(document, "kept", json_boolean(windows->has_folder));
	set_number(document, "windows", windows->count);
	set_number(document, "unreadable", windows->unreadable);
	set_number(document, "left_out", windows->left_out);
	if (windows->count) {
		set_number(document, "from", (__u64)windows->time.from_s);
		set_number(document, "to", (__u64)windows->time.to_s);
	}
	json_object_set_new(document, "endpoints", json_array());
	return document;
}

/* Takes the document. */
static void give(json_t *document, struct profile_answer *ret)
{
	const size_t size = json_dumpb(document, ret->text, sizeof(ret->text), JSON_COMPACT);

	json_decref(document);
	ret->status = 200;
	ret->size = size;
	if (!size || size > sizeof(ret->text))
		profile_answer_refuse(ret, 503, "that is too much; ask for less");
}

void profile_answer_table(const struct windows_said *windows, const struct message *message,
			  struct profile_answer *ret)
{
	json_t *document = windows_json(windows);
	struct message_endpoints endpoints = {};

	if (message && message_endpoints(message, &endpoints)) {
		json_decref(document);
		profile_answer_refuse(ret, 503, "that is too much; ask for less");
		return;
	}
	if (message) {
		json_object_set_new(document, "off_cpu", json_boolean(message_has_waits(message)));
		set_endpoints(document, &endpoints);
	}
	message_endpoints_free(&endpoints);
	give(document, ret);
}
