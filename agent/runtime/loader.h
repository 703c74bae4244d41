/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loading the probes that a process needs beside who looks at processes: the kernel takes up to
 * seconds to verify them, in which those of other runtimes have to be looked at. Each runtime has a
 * thread of its own, while somebody waits for its probes.
 */
#ifndef CTXPROP_LOADER_H
#define CTXPROP_LOADER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "runtime/looks.h"
#include "runtime/runtime_probes.h"

struct loader_run {
	bool begun;
	pthread_t thread;
	int news_fd; /* the loader's */
	struct runtime_probes *probes;
	struct classified found; /* whose probes are loaded */
	atomic_bool has_ended;
	struct looks waiting; /* processes */
};

struct loader {
	int news_fd; /* eventfd(2): a thread has ended */
	struct runtime_probes *probes;
	struct loader_run of[RUNTIME_FOLDERS_COUNT];
};

/* `probes` have to live longer, and both to stay where they are. 0 or -errno. */
int loader_open(struct runtime_probes *probes, struct loader *ret_loader);

/* Ends the threads, whatever they are at (base/interrupt.h). */
void loader_close(struct loader *loader);

/* Descriptor to wait for with POLLIN: then loader_take() has something to do. */
int loader_fd(const struct loader *loader);

/* Does somebody wait? */
bool loader_runs(const struct loader *loader);

/*
 * A process waits for the probes of what was found in it, which has a driver. 0 or -errno: it does
 * not wait.
 */
int loader_begin(struct loader *loader, __u32 tgid, const struct classified *found);

/* Name those that wait no more, whether their probes could be loaded or not. */
void loader_take(struct loader *loader, void (*tell)(__u32 tgid, void *data), void *data);

#endif
