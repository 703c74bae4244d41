/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that make answers, so that the one which serves all connections never waits. */
#ifndef CTXPROP_WEB_WORKERS_H
#define CTXPROP_WEB_WORKERS_H

#include <stdbool.h>

/* A piece of work, embedded in what belongs to it. */
struct work {
	struct work *next;
	void (*do_it)(
	    struct work *work); /* by one of the threads; the work is the caller's again */
};

struct workers;

/* So many threads, for which `room` pieces may wait. NULL: they could not be made. */
struct workers *workers_new(unsigned int threads, unsigned int room);

/* 0, or -EBUSY: no more can wait, or they have ended. */
int workers_give(struct workers *workers, struct work *work);

/*
 * Do what waits and end. Returns false if they are not done after `ms`: then they go on, and what
 * they use has to stay. NULL is allowed.
 */
bool workers_end(struct workers *workers, unsigned int ms);

/* After they have ended. NULL is allowed. */
void workers_free(struct workers *workers);

#endif
