/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When this process is told to end (stop.h), it does not wait for long system calls, such as the
 * loading of a program that the kernel verifies: a signal is sent to its threads again and again,
 * on which such calls return.
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
 * Begin. 0, or -errno: then nothing is interrupted. interrupt_end() must be called in both cases.
 * The signal is SIGUSR1, which has no other effect from now on.
 */
int interrupt_begin(struct interrupt *ret_interrupt);

/* End. To be called by the thread that began. */
void interrupt_end(struct interrupt *interrupt);

/*
 * Wait for the end of a thread that was told to end. The system calls of all other threads are
 * interrupted meanwhile, so that this does not take long.
 */
void interrupt_join(pthread_t thread);

#endif
