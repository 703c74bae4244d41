/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that makes spans of records and gives them to sinks. When it cannot keep up, the
 * kernel drops whole traces and counts them (REASON_RECORD_SHED), or single records if that is not
 * enough (REASON_RECORD_LOST).
 */
#ifndef CTXPROP_TRACER_H
#define CTXPROP_TRACER_H

#include "trace/keep.h"
#include "trace/redact.h"
#include "trace/sink.h"

#define TRACER_SINKS_MAX 4

struct tracer;

/* Descriptors of the maps of these names; the caller's. Returns 0 or -errno. */
int tracer_new(int records_fd, int recording_fd, struct tracer **ret_tracer);

/* What services are called from now on (services_set_rules()). By any thread. */
void tracer_set_rules(struct tracer *tracer, struct service_rules *rules);

/* services_set_pods() and services_miss_pod(). By any thread. */
void tracer_set_pods(struct tracer *tracer, struct pods *pods);
bool tracer_misses_pod(struct tracer *tracer);

/* Add a sink, which then belongs to the tracer. To be called before tracer_start(). */
void tracer_add(struct tracer *tracer, const struct sink *sink);

/* Does any sink take connections? */
bool tracer_takes_connections(const struct tracer *tracer);

/*
 * Give sinks also the spans of unsampled traces for which one of the rules holds. To be called
 * before tracer_start(). 0 or -ENOMEM.
 */
int tracer_keep(struct tracer *tracer, const struct keep_rules *rules);

/*
 * Use so many bytes of each head, 0 to RECORD_HEAD_MAX (the default), and replace what `redact`
 * matches in what is kept of them; NULL: nothing. It must outlive the tracer. To be called before
 * tracer_start().
 */
void tracer_limit_heads(struct tracer *tracer, __u32 bytes, const struct redact *redact);

/* Start reading records. The thread has the rights that the caller has now. Returns 0 or -errno. */
int tracer_start(struct tracer *tracer);

/*
 * Tell what became of records and spans, here and in the sinks, until now; may be called by any
 * thread while the tracer runs.
 */
void tracer_counts(struct tracer *tracer, sink_tell *tell, void *to);

/* Pass on what has come until now, close the sinks and free everything. NULL is allowed. */
void tracer_stop(struct tracer *tracer);

#endif
