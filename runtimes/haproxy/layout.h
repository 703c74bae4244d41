/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* HAProxy: where its streams are, and what the probes keep of them. */
#ifndef CTXPROP_RUNTIMES_HAPROXY_LAYOUT_H
#define CTXPROP_RUNTIMES_HAPROXY_LAYOUT_H

#include "runtimes/common.h"

/* Where HAProxy has what its threads are at, and functions that tell what that is. */
struct runtime_haproxy {
	__s64 scheduler;      /* of a pointer to its scheduler's data, from the thread pointer */
	__u64 process_stream; /* address of the function of streams */
	__u64 accept;         /* accept_queue_process: of new connections, from other threads */
	__u64 reserved;       /* 0 */
};

/* Where things stand in HAProxy's structs, in all versions that are supported. */
#define HAPROXY_CURRENT 32 /* thread_ctx.current (task_per_thread.current): the task that runs */
#define HAPROXY_PROCESS 8  /* task.process: its function */
#define HAPROXY_CONTEXT 16 /* task.context: what that works on */

/*
 * Map `streams`, by the worker_key of a stream (its address in place of a goroutine's): written
 * anew when a stream begins, for its memory is used again.
 */
struct stream {
	__u64 request; /* that it was made for; 0: for none that is known */
};

#endif
