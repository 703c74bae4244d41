/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes entries of processes that have ended from the node's maps: soon after an end, but at most
 * once a second.
 */
#ifndef CTXPROP_DEPARTED_H
#define CTXPROP_DEPARTED_H

#include <linux/types.h>

#include "load/node_sweep.h"

struct departed {
	int asked_fd;            /* map `sweep_asked` */
	unsigned int sweeps;     /* so many are to come */
	__u64 next_ns;           /* not before */
	struct node_sweep sweep; /* the one at hand */
};

/* 0 or -errno. */
int departed_open(struct departed *departed);
void departed_close(struct departed *departed);

/* To be called when the probes report that a process has ended. */
void departed_asked(struct departed *departed);

/* Milliseconds until departed_do() has something to do; -1: it has nothing. */
int departed_due_ms(const struct departed *departed);

/* Do the next step of removing, if it is time. */
void departed_do(struct departed *departed);

#endif
