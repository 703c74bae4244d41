/* SPDX-License-Identifier: Apache-2.0 */
/* Limits log lines of one kind to so many per second, and counts those that are left out. */
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

/* May one more line be logged at this time of CLOCK_MONOTONIC? If not, it is counted. */
bool log_limit_take(struct log_limit *limit, __u64 now_ns);

/* The number of lines that were left out until the current second, since this was last asked. */
unsigned long log_limit_left_out(struct log_limit *limit, __u64 now_ns);

#endif
