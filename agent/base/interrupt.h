/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls that take long, as those that load a program which the kernel verifies, are not
 * waited for when this process is told to end (stop.h): its threads get a signal, again and again,
 * which such calls return for.
 */
#ifndef CTXPROP_INTERRUPT_H
#define CTXPROP_INTERRUPT_H

#include <pthread.h>
#include <stdbool.h>

struct interrupt {
	int end_fd; /* eventfd(2): it is over; -1: there is no thread */
	pthread_t watcher;
};

/*
 * From here on. 0 or -errno: then nothing is interrupted; interrupt_end() is due all the same. The
 * signal is SIGUSR1, which has no other effect from now on.
 */
int interrupt_begin(struct interrupt *ret_interrupt);

/* No more. To be called by the same thread. */
void interrupt_end(struct interrupt *interrupt);

/*
 * Wait for the end of a thread that was told to end, and do not let it wait for such calls: those
 * of all other threads are interrupted meanwhile.
 */
void interrupt_join(pthread_t thread);

#endif
