/* SPDX-License-Identifier: GPL-2.0-only */
/* What runtimes are asked for by those who want to know whom a thread works for, while nothing
 * begins.
 */
#ifndef CTXPROP_RUNTIMES_ASKED_BPF_H
#define CTXPROP_RUNTIMES_ASKED_BPF_H

#include "runtimes/hooks.bpf.h"

#ifdef ASKS_APART

static __always_inline void runtime_is_not_known(const struct actor *a, __u8 veto)
{
}

/* Node: what it does its stack tells while it runs, and only then. */
static __always_inline void node_is_asked(struct actor *a, const struct runtime *runtime)
{
	a->kind = ACTOR_UNKNOWN;
}

#else

#include "runtimes/node/asked.bpf.h"

/* May it be at work that it was handed, in a way that is not watched yet? */
static __always_inline int runtime_may_be_handed(const struct actor *a,
						 const struct runtime *runtime, __u8 veto)
{
	const struct worker_key key = a->key; /* before Linux 6.4 keys of maps are on the stack */

	if (a->runtime == RUNTIME_GO)
		return veto == VETO_NO_EVIDENCE && goroutine_runs_itself(runtime);
	return a->runtime == RUNTIME_PYTHON && veto && a->kind == ACTOR_THREAD &&
	       !runtime_thread_is_known(&key);
}

/* Requests are open, and nothing is known of the one at work. */
VERIFIED_ALONE int runtime_is_not_known(const struct actor *a, __u8 veto)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct runtime *runtime;

	if (!a || (a->runtime != RUNTIME_GO && a->runtime != RUNTIME_PYTHON))
		return 0;
	runtime = runtime_lookup(tgid);
	if (runtime && !(runtime->flags & RUNTIME_POOLS) && runtime_may_be_handed(a, runtime, veto))
		runtime_suspects_pool_at_work(runtime, tgid);
	return 0;
}

/* Node: objects that the functions lead to go before all else, as those of a call do. */
static __always_inline void node_is_asked(struct actor *a, const struct runtime *runtime)
{
	__u64 request = node_works_on(runtime);

	if (!request)
		return;
	a->kind = ACTOR_RUNTIME;
	a->named = request == NODE_SEVERAL_REQUESTS ? 0 : request;
}

#endif

/* Do objects tell more? */
static __always_inline void runtime_is_asked(struct actor *a)
{
	const struct runtime *runtime = runtime_lookup(a->key.tgid);

	if (runtime && runtime->kind == RUNTIME_NODE)
		node_is_asked(a, runtime);
}

#endif
