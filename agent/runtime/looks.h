/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that wait to be looked at. First those of which nothing is known, and among them those
 * whose program was something special in another process, then programs that are new, then those
 * that were like most. Processes that are known already come last.
 *
 * Of those that are as urgent the one with the smallest program, which takes the least time, and
 * the one that came last take turns: behind a crowd nobody else has to wait. So that none of the
 * crowd waits for ever, the one of all that waits longest comes in between.
 */
#ifndef CTXPROP_LOOKS_H
#define CTXPROP_LOOKS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <linux/types.h>

/* So many programs are remembered: the last ones. */
#define LOOKS_MET_MAX 256

struct look;

/* A program, as it was in the process that was looked at last. */
struct looks_met {
	dev_t device;
	ino_t inode; /* 0: none */
	bool is_special;
};

/* All zero: nobody waits. */
struct looks {
	struct look *first;
	__u64 added, taken; /* so far */
	struct looks_met met[LOOKS_MET_MAX];
	unsigned int met_next;
};

/*
 * Have a process looked at, once however often that is asked for. `is_known`: it was looked at
 * before. 0 or -ENOMEM.
 */
int looks_add(struct looks *looks, __u32 tgid, bool is_known);

/* The program in this file was looked at: others that run it come earlier, or later. */
void looks_remember(struct looks *looks, const struct stat *program, bool is_special);

/* Take out the next one. False: none waits. */
bool looks_take(struct looks *looks, __u32 *ret_tgid);

/* Forget those that wait. */
void looks_clear(struct looks *looks);

#endif
