/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Durations of requests as histograms, one for each service, route, method, class of status and
 * side, with the latest trace of each bucket as its exemplar. There are METRICS_SERIES_MAX of them
 * at most, and each owner has a share of them (shares.h). Further requests are counted in a series
 * whose texts are all METRICS_OTHER.
 */
#ifndef CTXPROP_METRICS_H
#define CTXPROP_METRICS_H

#include "trace/sink.h"

#define METRICS_SERIES_MAX 2000
#define METRICS_BOUNDS     14
#define METRICS_OTHER      "_OTHER"

/* Upper bounds of the buckets in seconds, as OpenTelemetry's conventions advise. */
extern const double metrics_bounds[METRICS_BOUNDS];

struct metrics_example {
	__u8 trace_id[16];
	__u64 span_id;
	double seconds;
	__s64 wall_ns; /* when the request was over; 0: there is no example */
};

struct metrics_series {
	enum span_kind kind;
	char service[SERVICE_NAME_MAX];
	char route[SPAN_ROUTE_MAX];
	char method[SPAN_METHOD_MAX]; /* as in HTTP's registry, or METRICS_OTHER */
	char status_class[8];         /* "2xx"; "none": there was no response */
	__u64 count[METRICS_BOUNDS + 1];
	double seconds; /* the sum of all */
	struct metrics_example example[METRICS_BOUNDS + 1];
};

struct metrics;

/* NULL: no memory. */
struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* The sink that counts spans. Its close() frees nothing: metrics_free() does, after it. */
struct sink metrics_sink(struct metrics *metrics);

/*
 * Call `visit` for all series, in the order in which they appeared. Spans are not counted
 * meanwhile, but wait.
 */
void metrics_each(struct metrics *metrics,
		  void (*visit)(const struct metrics_series *series, void *data), void *data);

/* The number of spans that were counted in the series of others because there was no room. */
__u64 metrics_overflow(struct metrics *metrics);

/* A method of HTTP's registry as it is, METRICS_OTHER for any other one. */
const char *metrics_method(const char *method);

#endif
