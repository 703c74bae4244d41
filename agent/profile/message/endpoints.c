// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/unique.h"
#include "profile/message/counts.h"
#include "profile/message/endpoints.h"
#include "profile/message/pprof_types.h"

static const char *const latencies[LATENCIES] = {"", "p50", "p90", "p99", "max"};

const char *latency_name(enum latency latency)
{
	return latencies[latency];
}

int latency_parse(const char *name, enum latency *ret)
{
	for (enum latency i = LATENCY_P50; i < LATENCIES; i++)
		if (!strcmp(name, latencies[i])) {
			*ret = i;
			return 0;
		}
	return -EINVAL;
}

bool endpoint_fits(const char *name, const char *pattern)
{
	return !fnmatch(pattern, name, 0) || !fnmatch(pattern, name + strcspn(name, "/"), 0);
}

bool endpoint_is_none(const char *name)
{
	return !strcmp(name, ENDPOINT_NONE);
}

/* An endpoint as it is told apart: SERVICE, a tab, ENDPOINT. */
struct gathering {
	const struct message *message;
	struct message_endpoints *endpoints;
	struct unique keys;       /* char; their numbers are the endpoints' */
	long samples, cpu, waits; /* types of values; -1: there is none of it */
};

static bool same(const void *one, const void *other)
{
	return !strcmp(one, other);
}

static long type_of(const struct message *message, const char *type, const char *unit)
{
	const Profile *profile = message->profile;

	for (size_t i = 0; i < profile->n_sample_type; i++)
		if (!strcmp(message_text(message, profile->sample_type[i]->type), type) &&
		    !strcmp(message_text(message, profile->sample_type[i]->unit), unit))
			return (long)i;
	return -1;
}

static __u64 value_of(const Sample *sample, long type)
{
	return type < 0 ? 0 : (__u64)sample->value[type];
}

/* A new endpoint, with its own copies of its key. */
static int add_endpoint(struct gathering *gathering, const char *key, size_t number)
{
	struct message_endpoints *endpoints = gathering->endpoints;
	const size_t size = strlen(key) + 1;
	char *words = arena_alloc(&endpoints->texts, 2 * size), *tab;
	struct message_endpoint *endpoint =
	    words ? list_add(&endpoints->endpoint, &endpoints->count, sizeof(*endpoint)) : NULL;

	if (!endpoint)
		return -ENOMEM;
	gathering->keys.item[number] = memcpy(words + size, key, size);
	*endpoint = (struct message_endpoint){.service = memcpy(words, key, size)};
	tab = words + strcspn(words, "\t");
	endpoint->name = *tab ? tab + 1 : tab;
	*tab = '\0';
	return 0;
}

/* The endpoint of a key, made if it is new. NULL: no memory. */
static struct message_endpoint *get(struct gathering *gathering, const char *key)
{
	const __u64 hash = hash_text(HASH_BEGIN, key);
	const size_t before = gathering->keys.count;
	const long number = unique_add(&gathering->keys, hash, key);

	if (number < 0)
		return NULL;
	if (gathering->keys.count > before && add_endpoint(gathering, key, (size_t)number))
		return NULL;
	return &gathering->endpoints->endpoint[number];
}

static void add_wait(const struct gathering *gathering, const Sample *sample,
		     struct message_endpoint *endpoint)
{
	const char *wait = message_label(gathering->message, sample, "wait");
	const __u64 ns = value_of(sample, gathering->waits);

	if (!strcmp(wait, "blocked"))
		endpoint->waited_ns[PROFILE_BLOCKED] += ns;
	if (!strcmp(wait, "run queue"))
		endpoint->waited_ns[PROFILE_RUN_QUEUE] += ns;
}

static int add_sample(struct gathering *gathering, const Sample *sample)
{
	const struct message *message = gathering->message;
	_cleanup_free_ char *key = count_of(message_label(message, sample, "service"),
					    message_label(message, sample, "endpoint"));
	struct message_endpoint *endpoint = key ? get(gathering, key) : NULL;
	enum latency latency = LATENCY_UNKNOWN;

	if (!endpoint)
		return -ENOMEM;
	latency_parse(message_label(message, sample, "latency_bucket"), &latency);
	endpoint->samples += value_of(sample, gathering->samples);
	endpoint->cpu_ns += value_of(sample, gathering->cpu);
	endpoint->bucket_ns[latency] += value_of(sample, gathering->cpu);
	add_wait(gathering, sample, endpoint);
	return 0;
}

/* Of an endpoint. 0 or -ENOMEM. */
static int add_requests(struct gathering *gathering, const struct count *count)
{
	struct message_endpoint *endpoint = get(gathering, count->of);

	if (!endpoint)
		return -ENOMEM;
	endpoint->requests = count_add(endpoint->requests, count->count);
	return 0;
}

static int add_comment(struct gathering *gathering, const char *comment)
{
	struct message_endpoints *endpoints = gathering->endpoints;
	struct servers *servers = &endpoints->servers;
	struct count count;
	__u64 *sum;

	if (count_parse(comment, &count))
		return 0;
	switch (count.kind) {
	case COUNT_REQUESTS:
		return add_requests(gathering, &count);
	case COUNT_SERVERS:
		sum = &servers->samples;
		break;
	case COUNT_NO_REQUEST:
		sum = &servers->without[servers_reason_named(count.of)];
		break;
	default:
		sum = &endpoints->lost;
	}
	*sum = count_add(*sum, count.count);
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct message_endpoint *first = a, *second = b;
	const bool is_none = endpoint_is_none(first->name);

	if (is_none != endpoint_is_none(second->name))
		return is_none ? 1 : -1;
	if (first->cpu_ns != second->cpu_ns)
		return first->cpu_ns < second->cpu_ns ? 1 : -1;
	if (strcmp(first->service, second->service) != 0)
		return strcmp(first->service, second->service);
	return strcmp(first->name, second->name);
}

int message_endpoints(const struct message *message, struct message_endpoints *ret)
{
	const Profile *profile = message->profile;
	struct gathering gathering = {.message = message,
				      .endpoints = ret,
				      .keys = {.same = same},
				      .samples = type_of(message, "samples", "count"),
				      .cpu = type_of(message, "cpu", "nanoseconds"),
				      .waits = type_of(message, "offcpu", "nanoseconds")};
	int err = 0;

	*ret = (struct message_endpoints){};
	for (size_t i = 0; !err && i < profile->n_sample; i++)
		err = add_sample(&gathering, profile->sample[i]);
	for (size_t i = 0; !err && i < profile->n_comment; i++)
		err = add_comment(&gathering, message_text(message, profile->comment[i]));
	unique_free(&gathering.keys);
	if (err)
		message_endpoints_free(ret);
	else if (ret->count)
		qsort(ret->endpoint, ret->count, sizeof(*ret->endpoint), compare);
	return err;
}

void message_endpoints_free(struct message_endpoints *endpoints)
{
	free(endpoints->endpoint);
	arena_free(&endpoints->texts);
	*endpoints = (struct message_endpoints){};
}

bool message_has_endpoints(const struct message *message)
{
	const Profile *profile = message->profile;

	if (type_of(message, "samples", "count") < 0 || type_of(message, "cpu", "nanoseconds") < 0)
		return false;
	for (size_t i = 0; i < profile->n_sample; i++)
		if (*message_label(message, profile->sample[i], "endpoint"))
			return true;
	return !profile->n_sample;
}

bool message_has_waits(const struct message *message)
{
	return type_of(message, "offcpu", "nanoseconds") >= 0;
}

bool message_is_of_request(const struct message *message, const Sample *sample)
{
	const char *endpoint = message_label(message, sample, "endpoint");

	return *endpoint && !endpoint_is_none(endpoint);
}

size_t message_of_requests(const struct message *message)
{
	const Profile *profile = message->profile;
	size_t count = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		count += message_is_of_request(message, profile->sample[i]);
	return count;
}

bool message_is_mixed(const struct message *message)
{
	const size_t count = message_of_requests(message);

	return count && count < message->profile->n_sample;
}

static bool takes(const struct message *message, const Sample *sample, const void *data)
{
	(void)data;
	return message_is_of_request(message, sample);
}

int message_requests(struct message *message, struct message *ret)
{
	if (message_is_mixed(message))
		return message_part(message, takes, NULL, ret);
	*ret = (struct message){.profile = message->profile};
	return 0;
}
