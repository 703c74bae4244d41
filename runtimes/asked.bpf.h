/* SPDX-License-Identifier: GPL-2.0-only */
/* What runtimes are asked for by those who want to know whom a thread works for, while nothing
 * begins.
 */
#ifndef CTXPROP_RUNTIMES_ASKED_BPF_H
#define CTXPROP_RUNTIMES_ASKED_BPF_H

#include "runtimes/hooks.bpf.h"

#ifdef ASKS_APART

/* Node: what it does its stack tells while it runs, and only then. */
static __always_inline void node_asked(struct actor *a, const struct runtime *runtime)
{
	a->kind = ACTOR_UNKNOWN;
}

#else

#include "runtimes/go/asked.bpf.h"
#include "runtimes/node/asked.bpf.h"
#include "runtimes/python/asked.bpf.h"

/* Node: objects that the functions lead to go before all else, as those of a call do. */
static __always_inline void node_asked(struct actor *a, const struct runtime *runtime)
{
	__u64 request = node_works_on(runtime);

	if (!request)
		return;
	a->kind = ACTOR_RUNTIME;
	a->named = request == NODE_SEVERAL_REQUESTS ? 0 : request;
}

#endif

/* Do objects tell more? */
static __always_inline void hook_asked(struct actor *a)
{
	const struct runtime *runtime = runtime_lookup(a->key.tgid);

	ANSWER(asked, runtime_kind(runtime), a, runtime);
}

/* The engine has said what it works on, or why that is not known (enum veto; 0: it is). */
static __always_inline void hook_work_decided(const struct actor *a, __u8 veto)
{
#ifndef ASKS_APART
	ANSWER(work_decided, a->runtime, a, veto);
#endif
}

#endif
