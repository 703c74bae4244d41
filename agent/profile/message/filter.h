/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples of a message are shown. */
#ifndef CTXPROP_PROFILE_MESSAGE_FILTER_H
#define CTXPROP_PROFILE_MESSAGE_FILTER_H

#include "profile/message/endpoints.h"

/* All conditions must hold; all zero: everything is shown. */
struct message_filter {
	const char *endpoint; /* a pattern, see endpoint_fits(); NULL: any */
	const char *trace;    /* the first hex digits of its id; NULL: any */
	bool latency[LATENCIES];
	bool has_latency; /* only requests of these parts */
	const char
	    *label[PROFILE_LABELS_MAX]; /* "KEY=PATTERN" (glob(7)); numbers by their digits */
	size_t labels;
};

/*
 * Leave out the samples that are not shown, and how many requests there were where only a part of
 * an endpoint's samples is. 0 or -ENOMEM.
 */
int message_filter(struct message *message, const struct message_filter *filter);

#endif
