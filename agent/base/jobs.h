/* SPDX-License-Identifier: Apache-2.0 */
/* Work that can be done side by side, in threads that end with it. */
#ifndef CTXPROP_JOBS_H
#define CTXPROP_JOBS_H

#include <stddef.h>

struct job {
	int (*run)(void *data); /* 0 or -errno */
	void *data;
	int err; /* what it returned; -ECANCELED: this process was told to end before the job began
		    (stop.h) */
};

/*
 * Run all jobs, started in their order, on as many processors as this process may use. Returns when
 * all have ended. Where no thread can be made, the caller does the work.
 *
 * A job may run jobs of its own: no more threads work then than there are processors, and a thread
 * whose own jobs are all begun helps with those of others.
 */
void jobs_run(struct job *jobs, size_t count);

#endif
