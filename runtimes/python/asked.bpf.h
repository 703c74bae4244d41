/* SPDX-License-Identifier: GPL-2.0-only */
/* Python: threads of which nothing is known when they are asked for whom they work. */
#ifndef CTXPROP_RUNTIMES_PYTHON_ASKED_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_ASKED_BPF_H

#include "runtimes/python/worker.bpf.h"
#include "runtimes/runtime.bpf.h"

/*
 * Requests are open, and it is not known for which of them the current thread works: it may have
 * been handed that in a way that is not watched yet.
 */
VERIFIED_ALONE int python_is_not_known(__u32 tgid)
{
	struct worker_key thread = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct runtime *runtime = runtime_lookup(tgid);

	if (runtime && !(runtime->flags & RUNTIME_POOLS) && !runtime_thread_is_known(&thread))
		runtime_suspects_pool_at_work(runtime, tgid);
	return 0;
}

static __always_inline void python_work_decided(const struct actor *a, __u8 veto)
{
	if (veto && a->kind == ACTOR_THREAD)
		python_is_not_known(a->key.tgid);
}

#endif
