// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/unique.h"
#include "trace/metrics.h"
#include "trace/shares.h"

const double metrics_bounds[METRICS_BOUNDS] = {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25,
					       0.5,   0.75, 1,     2.5,  5,     7.5, 10};

struct metrics {
	pthread_mutex_t lock;
	struct unique series; /* without those of others */
	struct shares shares;
	struct metrics_series *others[2];
	__u64 overflow;
};

/* What a span has in common with others of its series. */
struct key {
	enum span_kind kind;
	const char *service, *route, *method, *status_class;
};

static bool has_key(const void *item, const void *key_of_span)
{
	const struct metrics_series *series = item;
	const struct key *key = key_of_span;

	return series->kind == key->kind && !strcmp(series->service, key->service) &&
	       !strcmp(series->route, key->route) && !strcmp(series->method, key->method) &&
	       !strcmp(series->status_class, key->status_class);
}

struct metrics *metrics_new(void)
{
	struct metrics *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return NULL;
	pthread_mutex_init(&metrics->lock, NULL);
	metrics->series.same = has_key;
	metrics->shares.room = METRICS_SERIES_MAX;
	return metrics;
}

void metrics_free(struct metrics *metrics)
{
	if (!metrics)
		return;
	unique_free_all(&metrics->series);
	free(metrics->others[0]);
	free(metrics->others[1]);
	pthread_mutex_destroy(&metrics->lock);
	free(metrics);
}

const char *metrics_method(const char *method)
{
	static const char *const known[] = {"GET",     "HEAD",    "POST",  "PUT",   "DELETE",
					    "CONNECT", "OPTIONS", "TRACE", "PATCH", ""};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(method, known[i]))
			return known[i];
	return METRICS_OTHER;
}

static const char *class_of(unsigned int status)
{
	static const char *const classes[] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

	return status >= 100 && status <= 599 ? classes[status / 100] : classes[0];
}

static struct key key_of(const struct span *span)
{
	return (struct key){.kind = span->kind,
			    .service = span->service.name,
			    .route = span->route,
			    .method = metrics_method(span->method),
			    .status_class = class_of(span->status)};
}

static __u64 hash_of(const struct key *key)
{
	__u64 hash = hash_add(HASH_BEGIN, &key->kind, sizeof(key->kind));

	hash = hash_text(hash, key->service);
	hash = hash_text(hash, key->route);
	hash = hash_text(hash, key->method);
	return hash_text(hash, key->status_class);
}

static struct metrics_series *series_new(const struct key *key)
{
	struct metrics_series *series = calloc(1, sizeof(*series));

	if (!series)
		return NULL;
	series->kind = key->kind;
	text_copy(series->service, sizeof(series->service), key->service);
	text_copy(series->route, sizeof(series->route), key->route);
	text_copy(series->method, sizeof(series->method), key->method);
	text_copy(series->status_class, sizeof(series->status_class), key->status_class);
	return series;
}

static struct metrics_series *others(struct metrics *metrics, enum span_kind kind)
{
	const struct key key = {.kind = kind,
				.service = METRICS_OTHER,
				.route = METRICS_OTHER,
				.method = METRICS_OTHER,
				.status_class = METRICS_OTHER};
	struct metrics_series **series = &metrics->others[kind == SPAN_CLIENT];

	metrics->overflow++;
	if (!*series)
		*series = series_new(&key);
	return *series;
}

/* NULL: no memory. */
static struct metrics_series *find(struct metrics *metrics, const struct span *span)
{
	struct key key = key_of(span);
	const __u64 hash = hash_of(&key);
	struct metrics_series *series = unique_find(&metrics->series, hash, &key);

	if (series)
		return series;
	series = shares_take(&metrics->shares, span->service.owner) ? series_new(&key) : NULL;
	if (series && unique_append(&metrics->series, hash, series) >= 0)
		return series;
	free(series);
	return others(metrics, span->kind);
}

static void count(struct metrics_series *series, const struct span *span, __s64 boot_to_wall_ns)
{
	double seconds = (double)(span->end_ns - span->start_ns) / NS_PER_SECOND;
	struct metrics_example *example;
	size_t bucket = 0;

	while (bucket < METRICS_BOUNDS && seconds > metrics_bounds[bucket])
		bucket++;
	series->count[bucket]++;
	series->seconds += seconds;
	if (!span_is_sampled(span)) /* nobody could look it up */
		return;
	example = &series->example[bucket];
	memcpy(example->trace_id, span->trace_id, sizeof(example->trace_id));
	example->span_id = span->span_id;
	example->seconds = seconds;
	example->wall_ns = (__s64)span->end_ns + boot_to_wall_ns;
}

static void take(void *data, const struct span *span, __s64 boot_to_wall_ns)
{
	struct metrics *metrics = data;
	struct metrics_series *series;

	pthread_mutex_lock(&metrics->lock);
	series = find(metrics, span);
	if (series)
		count(series, span, boot_to_wall_ns);
	pthread_mutex_unlock(&metrics->lock);
}

static void close_sink(void *data)
{
	(void)data;
}

struct sink metrics_sink(struct metrics *metrics)
{
	return (struct sink){
	    .span = take, .close = close_sink, .data = metrics, .takes_unsampled = true};
}

void metrics_each(struct metrics *metrics,
		  void (*visit)(const struct metrics_series *series, void *data), void *data)
{
	pthread_mutex_lock(&metrics->lock);
	for (size_t i = 0; i < metrics->series.count; i++)
		visit(metrics->series.item[i], data);
	for (size_t i = 0; i < 2; i++)
		if (metrics->others[i])
			visit(metrics->others[i], data);
	pthread_mutex_unlock(&metrics->lock);
}

__u64 metrics_overflow(struct metrics *metrics)
{
	__u64 overflow;

	pthread_mutex_lock(&metrics->lock);
	overflow = metrics->overflow;
	pthread_mutex_unlock(&metrics->lock);
	return overflow;
}
