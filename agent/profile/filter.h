/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples are shown. */
#ifndef CTXPROP_PROFILE_FILTER_H
#define CTXPROP_PROFILE_FILTER_H

#include "profile/requests.h"
#include "profile/samples.h"

/* All of what is said has to hold; all zero: everything is shown. */
struct filter {
	const char *endpoint; /* a pattern, see endpoint_fits(); NULL: any */
	const char *trace;    /* the first hex digits of its id; NULL: any */
	bool latency[LATENCIES];
	bool has_latency;                      /* only requests of these parts */
	const char *label[PROFILE_LABELS_MAX]; /* "KEY=PATTERN", see labels_fit() */
	size_t labels;
	const struct labels *known; /* the sets of the stacks; NULL if `labels` is 0 */
};

/* Is this stack shown? `request`: its own, as requests_find() has it. */
bool filter_takes(const struct filter *filter, const struct stack *stack,
		  const struct profiled_request *request);

#endif
