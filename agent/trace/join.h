/* SPDX-License-Identifier: Apache-2.0 */
/* Two records make one span: the one of a request, and the one of its end. */
#ifndef CTXPROP_JOIN_H
#define CTXPROP_JOIN_H

#include <stddef.h>

#include "trace/redact.h"
#include "trace/span.h"

/* What became of records and spans. */
struct join_counts {
	unsigned long spans;     /* complete */
	unsigned long unsampled; /* of these: their trace is not sampled */
	unsigned long own;       /* of these: not handed on, they are this process's own */
	unsigned long endless;   /* requests whose end was not heard of in time */
	unsigned long beginless; /* ends whose request was not heard of */
	unsigned long malformed; /* records that are none */
};

struct join;

/* `on_span` gets each complete span, for as long as it runs. Returns 0 or -ENOMEM. */
int join_new(void (*on_span)(const struct span *span, void *data), void *data,
	     struct join **ret_join);
void join_free(struct join *join);

/*
 * Tell `data` (of join_new()) of each request that begins, of which the ids hold, and of each that
 * is over without a span: given up, or this process's own.
 */
void join_watch(struct join *join, void (*on_open)(const struct span *span, void *data),
		void (*on_gone)(const struct span *span, void *data));

/*
 * Of heads so many bytes are told, at most (RECORD_HEAD_MAX), and what `redact` names is replaced
 * in all that is kept of them; NULL: nothing. It outlives the join.
 */
void join_limit_heads(struct join *join, size_t bytes, const struct redact *redact);

/* What services are called from now on (services_set_rules()). By any thread. */
void join_set_rules(struct join *join, struct service_rules *rules);

/* The next record, as it lay in the ring. */
void join_record(struct join *join, const void *record, size_t size);

/* Give up requests that began before that (CLOCK_BOOTTIME): their ends were lost. */
void join_expire(struct join *join, __u64 before_ns);

/* Requests that are not over. */
size_t join_open(const struct join *join);

/* What it knows of processes; the join's. */
struct services *join_services(const struct join *join);

const struct join_counts *join_counts(const struct join *join);

#endif
