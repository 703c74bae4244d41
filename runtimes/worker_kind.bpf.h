/* SPDX-License-Identifier: GPL-2.0-only */
/* What a runtime answers when it is asked who is at work on the current thread. */
#ifndef CTXPROP_RUNTIMES_WORKER_KIND_BPF_H
#define CTXPROP_RUNTIMES_WORKER_KIND_BPF_H

#include "engine/worker.h"

enum runtime_worker {
	RUNTIME_WORKER_THREAD,  /* the thread itself: all rules apply */
	RUNTIME_WORKER_KNOWN,   /* the key was changed to the one at work */
	RUNTIME_WORKER_UNKNOWN, /* something else than the thread, but not known what */
};

/* Put an object that is at work, if there is one, into `key`, which names the current thread. */
static __always_inline enum runtime_worker runtime_object(struct worker_key *key, __u64 object)
{
	if (!object)
		return RUNTIME_WORKER_THREAD;
	key->tid = 0;
	key->context = object;
	return RUNTIME_WORKER_KNOWN;
}

#endif
