/* SPDX-License-Identifier: Apache-2.0 */
/* Once a minute a line about what was done, if anything was. */
#ifndef CTXPROP_SUMMARY_H
#define CTXPROP_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

#include "flows/counters.h"

struct summary {
	int counters_fd;
	struct counters seen; /* when they were last looked at */
	struct counters told; /* when they were last told */
	__u64 told_ns;        /* CLOCK_MONOTONIC, when that was, or might have been */
};

/* Take the counters as they are for the start. 0 or -errno. */
int summary_start(struct summary *summary, int counters_fd, __u64 now_ns);

/* Is it a minute since the last line? */
bool summary_is_due(const struct summary *summary, __u64 now_ns);

/*
 * What has moved between two states of the counters: each reason with how often, and how often it
 * was in all. Packets are too many to be news, but those that were dropped. Returns the length of
 * the text, which is cut where it does not fit; 0: nothing has moved.
 */
size_t summary_text(char *line, size_t size, const struct counters *before,
		    const struct counters *now);

/*
 * Look at the counters. What has moved since the last line is logged, once a minute at most;
 * nothing moved, nothing said. Returns how many flows were turned away because the table was full
 * since the last look, or -errno.
 */
long summary_look(struct summary *summary, __u64 now_ns);

#endif
