/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a span of two records: that of a request, and that of its end. */
#ifndef CTXPROP_JOIN_H
#define CTXPROP_JOIN_H

#include <stddef.h>

#include "trace/redact.h"
#include "trace/span.h"

/* What became of records and spans. */
struct join_counts {
	unsigned long spans;     /* complete */
	unsigned long unsampled; /* of these: their trace is not sampled */
	unsigned long own;       /* of these: dropped, they are requests of this process itself */
	unsigned long endless;   /* requests whose end did not come in time */
	unsigned long beginless; /* ends without a request */
	unsigned long malformed; /* records that are none */
};

struct join;

/* `on_span` gets each complete span, for as long as it runs. Returns 0 or -ENOMEM. */
int join_new(void (*on_span)(const struct span *span, void *data), void *data,
	     struct join **ret_join);
void join_free(struct join *join);

/*
 * Have `data` (of join_new()) told of each request that begins (only the ids of the span are
 * valid), and of each that ends without a span: given up, or one of this process itself.
 */
void join_watch(struct join *join, void (*on_open)(const struct span *span, void *data),
		void (*on_gone)(const struct span *span, void *data));

/*
 * Use at most so many bytes of heads (up to RECORD_HEAD_MAX), and replace what `redact` matches in
 * all that is kept of them; NULL: nothing. It must outlive the join.
 */
void join_limit_heads(struct join *join, size_t bytes, const struct redact *redact);

/* Name services by these rules from now on (services_set_rules()). May be called by any thread. */
void join_set_rules(struct join *join, struct service_rules *rules);

/* services_set_pods() and services_miss_pod(). May be called by any thread. */
void join_set_pods(struct join *join, struct pods *pods);
bool join_misses_pod(struct join *join);

/* Take the next record, as it was read from the ring. */
void join_record(struct join *join, const void *record, size_t size);

/* Give up requests that began before that (CLOCK_BOOTTIME): their ends were lost. */
void join_expire(struct join *join, __u64 before_ns);

/* The number of requests that have not ended. */
size_t join_open(const struct join *join);

/* The services that it knows, which belong to the join. */
struct services *join_services(const struct join *join);

const struct join_counts *join_counts(const struct join *join);

#endif
