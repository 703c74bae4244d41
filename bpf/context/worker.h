/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What is known of a worker and of a process; see model.h for the words. */
#ifndef CTXPROP_CONTEXT_WORKER_H
#define CTXPROP_CONTEXT_WORKER_H

#include "context/model.h"

struct worker {
	struct tally tally;
	__u64 current; /* the request that it works on; 0: none, or not known */
};

struct process {
	struct tally tally;
};

#endif
