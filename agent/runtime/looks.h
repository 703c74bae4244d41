/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that wait to be looked at, those with the smallest programs first: a large one takes
 * longer, and most of them are quickly done.
 */
#ifndef CTXPROP_LOOKS_H
#define CTXPROP_LOOKS_H

#include <stdbool.h>
#include <linux/types.h>

struct look;

struct looks {
	struct look *first;
};

/* Have a process looked at, once however often that is asked for. 0 or -ENOMEM. */
int looks_add(struct looks *looks, __u32 tgid);

/* Take out the next one. False: none waits. */
bool looks_take(struct looks *looks, __u32 *ret_tgid);

/* Forget them. */
void looks_clear(struct looks *looks);

#endif
