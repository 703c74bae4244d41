/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that are off the CPU: where each has begun to wait, until the sampler says how long it
 * was. */
#ifndef CTXPROP_PROFILE_TAKE_WAITS_H
#define CTXPROP_PROFILE_TAKE_WAITS_H

#include "profile/sample.h"

struct stack;
struct waits;

/* NULL: no memory. */
struct waits *waits_new(void);
void waits_free(struct waits *waits);

/*
 * A thread begins to wait, as PROFILE_WAIT tells. What it has waited for before is over, whether
 * its end was told or not. The stack outlives this. 0 or -ENOMEM.
 */
int waits_begin(struct waits *waits, const struct profile_sample *sample, struct stack *stack);

/* The stack of the wait that PROFILE_WAITED tells the end of; NULL: its begin is not known. */
struct stack *waits_end(struct waits *waits, const struct profile_sample *sample);

#endif
