/* SPDX-License-Identifier: GPL-2.0-only */
/* Python: what is noted when its threads read requests and make others. */
#ifndef CTXPROP_RUNTIMES_PYTHON_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "runtimes/python/protocol.bpf.h"
#include "runtimes/python/thread.bpf.h"
#include "runtimes/python/worker.bpf.h"

/* The request is read. */
static __always_inline void python_request_read(const struct runtime *runtime,
						const struct actor *by, __u64 id)
{
	python_reads(by->key.tgid, id, by->kind == ACTOR_THREAD && by->loop == ACTOR_BLOCKS);
	if (runtime->flags & RUNTIME_TRANSPORTS)
		python_reads_socket(by->key.tgid, id, by->path);
}

/* The current thread makes another one. It may serve what somebody else has read. */
VERIFIED_ALONE int python_makes(struct actor *by)
{
	const struct runtime *runtime = by ? runtime_lookup(by->key.tgid) : NULL;
	struct worker_key thread;

	if (!runtime)
		return 0;
	thread = by->key;
	if (task_current(runtime)) /* it may run functions for tasks */
		runtime_suspects_pool(thread.tgid);
	if (runtime_thread_serves(&thread) || runtime_thread_is_known(&thread))
		return 0;
	by->named = python_serves(thread.tgid);
	if (by->named)
		by->kind = ACTOR_RUNTIME;
	return 0;
}

#endif
