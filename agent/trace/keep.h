/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps traces that are not sampled if something in them failed or was slow. That is known only
 * when the last of their requests on this host is over, so their spans wait here until then, in a
 * bounded buffer. A trace is kept as a whole or not at all.
 */
#ifndef CTXPROP_KEEP_H
#define CTXPROP_KEEP_H

#include "trace/span.h"

/* Spans that wait, at most (about 1.5 KiB each). */
#define KEEP_SPANS_MAX 16384U

/* What a trace is kept for. */
struct keep_rules {
	bool errors; /* a span of it is an error (span_is_error()) */
	bool slow;   /* a request of it was slow (slow.h): served, or called without a cause */
};

/* What became of spans that are not sampled. */
struct keep_counts {
	unsigned long kept;
	unsigned long dropped; /* all others */
	unsigned long crowded; /* of these: of traces that had to make room before they were over */
	unsigned long late;    /* of these: worth keeping, but their trace was dropped before */
};

struct keep;

/* "errors", "slow" or both, with a comma between them. 0 or -EINVAL. */
int keep_rules_parse(const char *text, struct keep_rules *ret_rules);

/* `on_span` gets the spans of traces that are kept. 0 or -ENOMEM. */
int keep_new(const struct keep_rules *rules, void (*on_span)(const struct span *span, void *data),
	     void *data, struct keep **ret_keep);

/* Free it; spans that wait are dropped. NULL is allowed. */
void keep_free(struct keep *keep);

/*
 * A request has begun (only the ids of the span are valid); it has ended without a span; its span
 * is complete.
 */
void keep_open(struct keep *keep, const struct span *span);
void keep_gone(struct keep *keep, const struct span *span);
void keep_span(struct keep *keep, const struct span *span);

/*
 * To be called now and then: decide about traces whose requests are over at `now_ns` (any clock,
 * always the same one).
 */
void keep_look(struct keep *keep, __u64 now_ns);

const struct keep_counts *keep_counts(const struct keep *keep);

#endif
