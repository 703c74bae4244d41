/* SPDX-License-Identifier: Apache-2.0 */
/* Logs a summary of what was done once a minute, if anything was. */
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
 * A text about the counters that have grown between two states, each with its increase and its
 * total. Of packets, only dropped ones are mentioned. Returns the length of the text, which is cut
 * where it does not fit; 0: nothing has changed.
 */
size_t summary_text(char *line, size_t size, const struct counters *before,
		    const struct counters *now);

/*
 * Read the counters, and log what has changed since the last line, if anything, at most once a
 * minute. Returns how many flows found no room in the table since the last call, or -errno.
 */
long summary_look(struct summary *summary, __u64 now_ns);

#endif
