/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_LOGS_THREADS_H
#define CTXPROP_LOGS_THREADS_H

#include <stdbool.h>
#include <linux/types.h>

/* How the threads of a process share the work on requests, as far as /proc shows. */
enum threads_kind {
	/* It is gone, has begun later, or may do several things in one thread. */
	THREADS_UNKNOWN,
	THREADS_ONE,     /* one thread, which does one thing at a time */
	THREADS_SEVERAL, /* the same of each of several */
};

/*
 * What kind of process had this number at a time of the clock (CLOCK_REALTIME, ns). Who has an
 * epoll set (event loops, Go, Java) may do several things at once in each thread; of others the
 * agent knows if threads respond for each other: `processes_fd` is its map (threads_open()).
 */
enum threads_kind threads_kind(int processes_fd, __u32 pid, __s64 wall_ns);

/* The map of processes that a running agent has pinned. To be closed. A descriptor, or -errno. */
int threads_open(void);

#endif
