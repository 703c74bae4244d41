/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue of processes to be inspected, those with the smallest programs first: these are most,
 * and are done quickly.
 */
#ifndef CTXPROP_LOOKS_H
#define CTXPROP_LOOKS_H

#include <stdbool.h>
#include <linux/types.h>

struct look;

struct looks {
	struct look *first;
};

/* Add a process, unless it is in the queue. 0 or -ENOMEM. */
int looks_add(struct looks *looks, __u32 tgid);

/* Take out the next one. False: none waits. */
bool looks_take(struct looks *looks, __u32 *ret_tgid);

/* Forget them. */
void looks_clear(struct looks *looks);

#endif
