/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_LOGS_THREADS_H
#define CTXPROP_LOGS_THREADS_H

#include <stdbool.h>
#include <linux/types.h>

/* How the threads of a process go about requests, as far as /proc tells. */
enum threads_kind {
	THREADS_UNKNOWN, /* it is gone, has begun later, or may do several things in one thread */
	THREADS_ONE,     /* one thread, which does one thing at a time */
	THREADS_SEVERAL, /* the same of each of several */
};

/*
 * What kind of process had this number at a time of the clock (CLOCK_REALTIME, ns). Who has an
 * epoll set (event loops, Go, Java) may do several things at once in each thread.
 */
enum threads_kind threads_kind(__u32 pid, __s64 wall_ns);

#endif
