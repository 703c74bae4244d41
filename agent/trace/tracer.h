/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that turns records into spans and gives them to sinks. What it cannot keep up with is
 * lost in the kernel, by whole traces, and counted there (REASON_RECORD_SHED; REASON_RECORD_LOST
 * where that does not suffice).
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

/* Spans go to this sink, too, which is the tracer's from now on. Before tracer_start(). */
void tracer_add(struct tracer *tracer, const struct sink *sink);

/* Does any sink take connections? */
bool tracer_takes_connections(const struct tracer *tracer);

/*
 * Sinks get the spans of traces, too, that are not sampled and fit one of the rules. Before
 * tracer_start(). 0 or -ENOMEM.
 */
int tracer_keep(struct tracer *tracer, const struct keep_rules *rules);

/*
 * So many bytes of each head are taken, 0 to RECORD_HEAD_MAX (the default), and what `redact` names
 * is replaced in what is kept of them; NULL: nothing. It outlives the tracer. Before
 * tracer_start().
 */
void tracer_limit_heads(struct tracer *tracer, __u32 bytes, const struct redact *redact);

/*
 * Begin to read records. The thread has the rights that the caller has by now. Returns 0 or -errno.
 */
int tracer_start(struct tracer *tracer);

/*
 * Tell what became of records and spans, here and in the sinks, until now; may be called by any
 * thread while the tracer runs.
 */
void tracer_counts(struct tracer *tracer, sink_tell *tell, void *to);

/* Hand on what has been told until now, close the sinks and free everything. NULL is allowed. */
void tracer_stop(struct tracer *tracer);

#endif
