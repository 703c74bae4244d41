/* SPDX-License-Identifier: GPL-2.0-only */
/* Who runs now: a thread, or what its runtime says is at work on it. */
#ifndef CTXPROP_PROBES_ACTOR_BPF_H
#define CTXPROP_PROBES_ACTOR_BPF_H

#include "probes/thread.bpf.h"
#include "runtimes/hooks.bpf.h"

/* Modules that matter may be loaded late: looked for with its first requests, too. */
VERIFIED_ALONE int runtime_look_again(__u32 tgid)
{
	const struct process *p = process_lookup(&tgid);

	if (!p || !p->served || p->served == PROCESS_SERVED - 1)
		runtime_tell(tgid);
	return 0;
}

/*
 * A process reads a request of which is not known what it runs: the same as who made it, if neither
 * has become another program since then, else it has to be found out.
 */
VERIFIED_ALONE int runtime_reads_first(__u32 tgid)
{
	const struct task_struct *task = bpf_get_current_task_btf()->group_leader, *maker;
	const struct runtime *runtime;

	if (!cgroup_has_room(bpf_get_current_cgroup_id()))
		return 0;
	for (int i = 0; i < RUNTIME_MAKERS; i++) {
		maker = task->real_parent;
		if (task->self_exec_id != task->parent_exec_id ||
		    maker->self_exec_id != task->parent_exec_id)
			break;
		runtime = runtime_lookup(maker->tgid);
		if (runtime) {
			runtime_copy(runtime, tgid);
			return 0;
		}
		task = maker->group_leader;
	}
	runtime_wanted(tgid);
	return 0;
}

/* A process reads a request. Returns what it runs; NULL: that is not known. */
static __always_inline const struct runtime *runtime_reads(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	if (!runtime) {
		runtime_reads_first(tgid);
		runtime = runtime_lookup(tgid);
	} else if (hook_may_load_more(runtime)) {
		runtime_look_again(tgid);
	}
	return runtime && runtime->kind != RUNTIME_WANTED ? runtime : NULL;
}

/*
 * What its process runs is not known: who waits for what it reads works for that, if it was made
 * for the connection.
 */
static __always_inline void worker_reading_unknown(struct actor *a, const struct task_struct *task,
						   const struct sock *sk)
{
	a->runtime = RUNTIME_WANTED;
	if (a->given)
		a->loop = turn_begin(task, sk, &a->turn);
	a->kind = a->given && a->loop == ACTOR_BLOCKS ? ACTOR_THREAD : ACTOR_UNKNOWN;
	a->given = a->kind == ACTOR_THREAD;
}

/*
 * The worker that the current thread (`task`) is, or runs, and that reads a request: what its
 * process runs has to be found out.
 */
static __always_inline void worker_reading(struct actor *a, const struct task_struct *task,
					   const struct sock *sk)
{
	const struct runtime *runtime;

	worker_of(a, task);
	a->path = (__u64)sk;
	a->given = given_to(task, sk);
	runtime = runtime_reads(a->key.tgid);
	if (!runtime) {
		worker_reading_unknown(a, task, sk);
		return;
	}
	a->runtime = runtime->kind;
	a->kind = actor_kind_of(hook_who_works(runtime, &a->key));
	if (a->kind == ACTOR_THREAD)
		a->loop = turn_begin(task, sk, &a->turn);
	else
		a->by = hook_evidence(runtime, a);
	if (a->loop == ACTOR_LOOP)
		hook_loop_reads(runtime, a);
	/* A socket that blocks is read by a thread, whatever context that has entered. */
	if (a->by == EVIDENCE_TASK && turn_begin(task, sk, &a->turn) == ACTOR_BLOCKS &&
	    !hook_task_stays(runtime, &a->key))
		actor_is_thread(a);
}

/* The same in a program that has no runtime. */
static __always_inline void worker_reading_plain(struct actor *a, const struct task_struct *task,
						 const struct sock *sk)
{
	worker_of(a, task);
	a->runtime = RUNTIME_THREADS;
	a->loop = turn_begin(task, sk, &a->turn);
	a->path = (__u64)sk;
}

/*
 * The one that reads anything else. Returns the thread's entry; NULL: nothing is known of it, or
 * it is a runtime's (of goroutines does not matter which reads).
 */
static __always_inline struct worker *
worker_reading_on(struct actor *a, const struct task_struct *task, const struct sock *sk)
{
	const struct runtime *runtime;
	struct worker *w;

	worker_of(a, task);
	w = worker_lookup(&a->key);
	runtime = runtime_lookup(a->key.tgid);
	if (!hook_task_reads(runtime, a) && w)
		a->kind = actor_kind_of(runtime_works_by(runtime, a->key.tgid));
	if (!w || a->kind != ACTOR_THREAD)
		return NULL;
	a->loop = turn_begin(task, sk, &a->turn);
	return w;
}

/* The one that makes or wakes another thread. */
static __always_inline void worker_handing_over(struct actor *a, const struct runtime *runtime)
{
	worker_current(a);
	a->runtime = runtime ? runtime->kind : 0;
	hook_hands_over(a, runtime);
}

/* A thread is about to be believed to work for the request that it was made for. */
static __always_inline void actor_doubts(struct actor *a)
{
	__u64 made_for = actor_made_for(a);

	if (made_for)
		a->doubtful = hook_thread_given(a->key.tgid, made_for);
}

/* What its runtime has told of it. */
static __always_inline void actor_is_told(struct actor *a, const struct runtime *runtime,
					  enum runtime_worker who, struct named named)
{
	a->kind = actor_kind_of(who);
	a->by = hook_evidence(runtime, a);
	actor_named(a, named);
	hook_goes_on(a);
	actor_doubts(a);
}

/* The one that connects, or works, in a program of which `runtime` is known: `a` is its thread. */
static __always_inline void thread_connects(struct actor *a, struct runtime *runtime)
{
	enum runtime_worker who;
	struct named named;

	if (actor_is_given(a))
		return;
	if (worker_is_stranger(a, runtime)) {
		a->kind = ACTOR_UNKNOWN;
		return;
	}
	a->runtime = runtime ? runtime->kind : 0;
	hook_phase(a, runtime);
	who = hook_who_connects(runtime, &a->key, &named);
	actor_is_told(a, runtime, who, named);
}

static __always_inline void worker_connecting(struct actor *a)
{
	thread_connects(a, actor_begins(a));
}

/*
 * The one that begins a call on socket `s`. Returns whether that is a thread of a program that has
 * never had a request.
 */
static __always_inline int worker_calling(struct actor *a, const struct sock *sk, struct socket *s)
{
	struct runtime *runtime = actor_begins(a);
	enum runtime_worker who;
	struct named named;

	if (actor_is_given(a))
		return 0;
	if (worker_is_stranger(a, runtime) && (!s->purpose.request || s->calls_end)) {
		a->kind = ACTOR_UNKNOWN;
		return !runtime;
	}
	a->runtime = runtime ? runtime->kind : 0;
	hook_phase(a, runtime);
	who = hook_who_calls(runtime, &a->key, (__u64)sk, s, &named);
	actor_is_told(a, runtime, who, named);
	hook_call_begins(a, runtime, sk, s);
	return 0;
}

#endif
