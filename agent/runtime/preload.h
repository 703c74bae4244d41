/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads programs before they are needed: the uprobe programs of runtimes, so that even the first
 * requests of a process are followed, and the hooks of unix sockets.
 */
#ifndef CTXPROP_PRELOAD_H
#define CTXPROP_PRELOAD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/runtime_probes.h"

/*
 * Load what each process of a runtime needs at once, and pin it for the follower. 0, or -errno:
 * then it is loaded when it is needed.
 */
int preload_first(void);

/* A thread that loads the rest. */
struct preload {
	bool begun;
	bool runtimes; /* the probes of these, too */
	pthread_t thread;
	atomic_bool stop;
	struct runtime_probes *probes;
	runtimes_tell tell;
};

/*
 * Begin, once. `preload` and `probes` have to stay where they are until preload_end(). `tell` hears
 * from the thread when the probes of runtimes are loaded, and of what can never be. Without a
 * thread, or `runtimes`, they are loaded when they are needed.
 */
void preload_begin(struct preload *preload, struct runtime_probes *probes, bool runtimes,
		   runtimes_tell tell);

/* End the thread, if it was begun, whatever it is at (base/interrupt.h). */
void preload_end(struct preload *preload);

#endif
