/* SPDX-License-Identifier: GPL-2.0-only */
/* Who runs now. */
#ifndef CTXPROP_PROBES_ACTOR_BPF_H
#define CTXPROP_PROBES_ACTOR_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "probes/decide.bpf.h"
#include "probes/given.bpf.h"
#include "probes/syscall.bpf.h"
#include "runtimes/hooks.bpf.h"
#include "runtimes/worker.bpf.h"

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

/* Modules of Python that matter may be loaded late: looked for with its first requests, too. */
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
	} else if (runtime_may_load_more(runtime)) {
		runtime_look_again(tgid);
	}
	return runtime && runtime->kind != RUNTIME_WANTED ? runtime : NULL;
}

/*
 * Another thread of the program than the last time reads a request, from a socket (its address)
 * that epoll watches. Where both read from the same epoll set, any of them goes on with what any
 * has read.
 */
VERIFIED_ALONE int loop_reads(const struct actor *a)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct runtime_loop now = {.set = a ? turn_set(a->path) : 0, .reader = id}, was;
	__u32 tgid = id >> 32;
	struct runtime *runtime = runtime_lookup(tgid);
	struct process *p;

	if (!runtime)
		return 0;
	was = runtime->threads.loop;
	runtime->threads.loop = now;
	if (!now.set || was.set != now.set || was.reader >> 32 != tgid)
		return 0;
	p = process_lookup(&tgid);
	if (p)
		process_breaks(p, HABIT_LOOPS_APART);
	return 0;
}

/* May it be another thread than the last time? */
static __always_inline int loop_is_another(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_THREADS &&
	       runtime->threads.loop.reader != bpf_get_current_pid_tgid();
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
	a->kind = actor_kind_of(runtime_worker(runtime, &a->key));
	if (a->kind == ACTOR_THREAD)
		a->loop = turn_begin(task, sk, &a->turn);
	else
		a->by = runtime_evidence(runtime, a);
	if (a->loop == ACTOR_LOOP && loop_is_another(runtime))
		loop_reads(a);
	/* A socket that blocks is read by a thread, whatever context that has entered. */
	if (a->by == EVIDENCE_TASK && turn_begin(task, sk, &a->turn) == ACTOR_BLOCKS &&
	    !greenlet_is_current(runtime, &a->key))
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

/* The one that reads anything else, where Python's tasks are known. */
static __always_inline void worker_reading_task(struct actor *a, const struct runtime *runtime)
{
	a->kind = actor_kind_of(runtime_python(runtime, &a->key));
	a->by = EVIDENCE_TASK;
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
	if (runtime_has_tasks(runtime))
		worker_reading_task(a, runtime);
	else if (w)
		a->kind = actor_kind_of(runtime_kind(runtime, a->key.tgid));
	if (!w || a->kind != ACTOR_THREAD)
		return NULL;
	a->loop = turn_begin(task, sk, &a->turn);
	return w;
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

/* The one that makes or wakes another thread. */
static __always_inline void worker_handing_over(struct actor *a, const struct runtime *runtime)
{
	worker_current(a);
	a->runtime = runtime ? runtime->kind : 0;
	runtime_hands_over(a, runtime);
}

/* The request that a thread was made for, which has none of its own; 0: there is none. */
static __always_inline __u64 actor_made_for(const struct actor *a)
{
	const struct worker *w = a->kind == ACTOR_THREAD ? worker_lookup(&a->key) : NULL;

	return w && !worker_only(w) ? w->made_for : 0;
}

/* A thread is about to be believed to work for the request that it was made for. */
static __always_inline void actor_doubts(struct actor *a)
{
	__u64 made_for = actor_made_for(a);

	if (made_for)
		a->doubtful = thread_is_given(a->key.tgid, made_for);
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

/* What its runtime has told of it. */
static __always_inline void actor_is_told(struct actor *a, const struct runtime *runtime,
					  enum runtime_worker who, struct named named)
{
	a->kind = actor_kind_of(who);
	a->by = runtime_evidence(runtime, a);
	actor_named(a, named);
	runtime_goes_on(a);
	actor_doubts(a);
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
	runtime_finds_phase(a, runtime);
	who = runtime_connector(runtime, &a->key, &named);
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
	runtime_finds_phase(a, runtime);
	who = runtime_sender(runtime, &a->key, (__u64)sk, s, &named);
	actor_is_told(a, runtime, who, named);
	runtime_is_called(a, runtime, s, (__u64)sk);
	return 0;
}

#endif
