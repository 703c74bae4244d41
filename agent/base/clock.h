/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_CLOCK_H
#define CTXPROP_CLOCK_H

#include <linux/types.h>
#include <time.h>

#define NS_PER_SECOND 1000000000ULL

/* CLOCK_MONOTONIC in nanoseconds: the clock of the BPF programs. */
static inline __u64 clock_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (__u64)now.tv_sec * NS_PER_SECOND + (__u64)now.tv_nsec;
}

/* Milliseconds until then, by that clock, for poll(2); 0: it is past. At most a day. */
static inline int clock_ms_until(__u64 end_ns)
{
	const __u64 now_ns = clock_now_ns(), most_ms = 86400000;
	const __u64 left_ms = now_ns < end_ns ? (end_ns - now_ns) / (NS_PER_SECOND / 1000) + 1 : 0;

	return (int)(left_ms < most_ms ? left_ms : most_ms);
}

#endif
