/* SPDX-License-Identifier: Apache-2.0 */
/* Now and then a line about what was done since the last one. */
#ifndef CTXPROP_SUMMARY_H
#define CTXPROP_SUMMARY_H

#include "flows/counters.h"

struct summary {
	int counters_fd;
	struct counters last;
};

/* Take the counters as they are for the start. 0 or -errno. */
int summary_start(struct summary *summary, int counters_fd);

/*
 * Log what moved since the last call; nothing moved, nothing said.
 * Returns how many flows were turned away because the table was full since then, or -errno.
 */
long summary_log(struct summary *summary);

#endif
