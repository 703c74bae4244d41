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

#endif
