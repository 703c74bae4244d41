/* SPDX-License-Identifier: Apache-2.0 */
/* How many lines of one kind the log gets in a second; how many were left out is said behind them.
 */
#ifndef CTXPROP_DAEMON_LOG_LIMIT_H
#define CTXPROP_DAEMON_LOG_LIMIT_H

#include <stdbool.h>
#include <linux/types.h>

#define LOG_LIMIT_LINES 100

/* All zero at first. */
struct log_limit {
	__u64 second;
	unsigned int told;      /* in that second */
	unsigned long left_out; /* the same */
	unsigned long due;      /* left out before it, and not asked for yet */
};

/* Is there room for one more line at this time of CLOCK_MONOTONIC? Else it is counted. */
bool log_limit_take(struct log_limit *limit, __u64 now_ns);

/* How many lines were left out in seconds that are over, and were not asked for yet. */
unsigned long log_limit_left_out(struct log_limit *limit, __u64 now_ns);

#endif
