/* SPDX-License-Identifier: Apache-2.0 */
/* Two records make one span: the one of a request, and the one of its end. */
#ifndef CTXPROP_JOIN_H
#define CTXPROP_JOIN_H

#include <stddef.h>

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
