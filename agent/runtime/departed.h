/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that are gone: what the node's maps have of them goes at once, but not more often than
 * once a second, however many end.
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

/* The probes have told that some process is gone. */
void departed_asked(struct departed *departed);

/* Milliseconds until departed_do() has something to do; -1: it has nothing. */
int departed_due_ms(const struct departed *departed);

/* Sweep a step further, if it is time. */
void departed_do(struct departed *departed);

#endif
