/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that loads the uprobe programs of runtimes before the first process needs them, so that
 * its first requests are followed.
 */
#ifndef CTXPROP_PRELOAD_H
#define CTXPROP_PRELOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/runtime_probes.h"

struct preload {
	bool begun;
	pthread_t thread;
	atomic_bool stop;
	struct runtime_probes *probes;
	runtimes_tell tell;
};

/*
 * Begin, once. Both have to stay where they are until preload_end(). `tell` hears from the thread
 * when all are loaded. Without a thread programs are loaded when they are needed.
 */
void preload_begin(struct preload *preload, struct runtime_probes *probes, runtimes_tell tell);

/* Wait for what the thread is at, if it was begun. */
void preload_end(struct preload *preload);

#endif
