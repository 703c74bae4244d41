/* SPDX-License-Identifier: GPL-2.0-only */
/* Which thread runs now, and what the kernel tells of it: no runtime is asked. */
#ifndef CTXPROP_PROBES_THREAD_BPF_H
#define CTXPROP_PROBES_THREAD_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "probes/decide.bpf.h"
#include "probes/given.bpf.h"
#include "probes/syscall.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "runtimes/worker_kind.bpf.h"

/* A thread. */
static __always_inline void worker_of(struct actor *a, const struct task_struct *task)
{
	__builtin_memset(a, 0, sizeof(*a));
	a->key.tgid = task->tgid;
	a->key.tid = task->pid;
	a->kind = ACTOR_THREAD;
}

/* The current one. */
static __always_inline void worker_current(struct actor *a)
{
	worker_of(a, bpf_get_current_task_btf());
}

static __always_inline void actor_is_thread(struct actor *a)
{
	a->key.tid = (__u32)bpf_get_current_pid_tgid();
	a->key.context = 0;
	a->kind = ACTOR_THREAD;
}

static __always_inline enum actor_kind actor_kind_of(enum runtime_worker who)
{
	if (who == RUNTIME_WORKER_THREAD)
		return ACTOR_THREAD;
	return who == RUNTIME_WORKER_KNOWN ? ACTOR_RUNTIME : ACTOR_UNKNOWN;
}

static __always_inline void actor_named(struct actor *a, struct named named)
{
	a->named = named.request;
	a->doubtful = named.doubtful;
	a->own = named.own;
}

/*
 * Does the current thread belong to a program that nobody has looked at, and that has no requests?
 * Then its calls and connects have no cause, whatever it runs: programs that only call, mostly.
 */
static __always_inline int worker_is_stranger(const struct actor *a, const struct runtime *runtime)
{
	const struct process *p;

	if (runtime && runtime->kind != RUNTIME_WANTED)
		return 0;
	p = process_lookup(&a->key.tgid);
	return (!p || !tally_open(&p->tally)) && !worker_lookup(&a->key);
}

/* The request that a thread was made for, which has none of its own; 0: there is none. */
static __always_inline __u64 actor_made_for(const struct actor *a)
{
	const struct worker *w = a->kind == ACTOR_THREAD ? worker_lookup(&a->key) : NULL;

	return w && !worker_only(w) ? w->made_for : 0;
}

/*
 * Whoever runs now is about to connect or to call. Returns what is known of its program. Of another
 * thread (ASKS_APART) the path is not known; only calls ask for that.
 */
static __always_inline struct runtime *actor_begins(struct actor *a)
{
#ifdef ASKS_APART
	__builtin_memset(a, 0, sizeof(*a));
	actor_is_thread(a);
	a->key.tgid = bpf_get_current_pid_tgid() >> 32;
#else
	struct task_struct *task = bpf_get_current_task_btf();

	worker_of(a, task);
	a->path = syscall_stack(task);
#endif
	return runtime_lookup(a->key.tgid);
}

/* Is it of a process that others have made for a connection? Then `a` says for which request. */
static __always_inline int actor_is_given(struct actor *a)
{
#ifdef ASKS_APART
	return 0;
#else
	__u64 request = given_to_others(&a->key);

	if (!request)
		return 0;
	a->kind = ACTOR_RUNTIME;
	a->by = EVIDENCE_FORK;
	a->named = request;
	return 1;
#endif
}

#endif
