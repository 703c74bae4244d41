/* SPDX-License-Identifier: Apache-2.0 */
/* Work that can be done side by side, in threads that end with it. */
#ifndef CTXPROP_JOBS_H
#define CTXPROP_JOBS_H

#include <stddef.h>

struct job {
	int (*run)(void *data); /* 0 or -errno */
	void *data;
	int err; /* what it returned; -ECANCELED: we were told to end before it began (stop.h) */
};

/*
 * Run all of them, the first ones first, on as many processors as this process may use and has work
 * for. Returns when all have ended. Where no thread can be made the caller does the work.
 *
 * A job may run jobs of its own: no more threads work then than there are processors, and a thread
 * whose own jobs are all begun helps with those of others.
 */
void jobs_run(struct job *jobs, size_t count);

#endif
