/* SPDX-License-Identifier: GPL-2.0-only */
/* Who runs now. */
#ifndef CTXPROP_PROBES_ACTOR_BPF_H
#define CTXPROP_PROBES_ACTOR_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "context/maps.bpf.h"
#include "context/worker.h"
#include "probes/syscall.bpf.h"
#include "probes/turn.bpf.h"
#include "context/decide.h"
#include "probes/java_thread.bpf.h"
#include "probes/later.bpf.h"
#include "probes/native.bpf.h"
#include "probes/node_search.bpf.h"
#include "probes/phase.bpf.h"
#include "probes/python_thread.bpf.h"
#include "probes/runtime.bpf.h"

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
	a->key.goroutine = 0;
	a->kind = ACTOR_THREAD;
}

static __always_inline enum actor_kind actor_kind_of(enum runtime_worker who)
{
	if (who == RUNTIME_WORKER_THREAD)
		return ACTOR_THREAD;
	return who == RUNTIME_WORKER_KNOWN ? ACTOR_RUNTIME : ACTOR_NOBODY;
}

static __always_inline void actor_named(struct actor *a, struct named named)
{
	a->named = named.request;
	a->doubtful = named.doubtful;
	a->own = named.own;
}

/*
 * What names the request of an actor: a goroutine itself, or a virtual thread of Java, a task or
 * stream, an object of Ruby or Java?
 */
static __always_inline enum evidence actor_evidence(const struct runtime *runtime,
						    const struct actor *a)
{
	if (runtime && (runtime->kind == RUNTIME_PYTHON || runtime->kind == RUNTIME_HAPROXY))
		return EVIDENCE_TASK;
	if (runtime && runtime->kind == RUNTIME_JAVA && a->key.goroutine)
		return EVIDENCE_THREAD;
	if (runtime && (runtime->kind == RUNTIME_RUBY || runtime->kind == RUNTIME_JAVA ||
			runtime->kind == RUNTIME_NODE))
		return EVIDENCE_OBJECT;
	return EVIDENCE_GOROUTINE;
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
	} else if (runtime->kind == RUNTIME_PYTHON && !(runtime->flags & RUNTIME_TASKS)) {
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
		p->loops_share = 1;
	return 0;
}

/* May it be another thread than the last time? */
static __always_inline int loop_is_another(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_THREADS &&
	       runtime->threads.loop.reader != bpf_get_current_pid_tgid();
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
	runtime = runtime_reads(a->key.tgid);
	if (!runtime) {
		a->kind = ACTOR_NOBODY;
		a->runtime = RUNTIME_WANTED;
		return;
	}
	a->runtime = runtime->kind;
	a->kind = actor_kind_of(runtime_worker(runtime, &a->key));
	if (a->kind == ACTOR_THREAD)
		a->loop = turn_begin(task, sk, &a->turn);
	else
		a->by = actor_evidence(runtime, a);
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
 * Then its calls and connects are nobody's, whatever it runs: programs that only call, mostly.
 */
static __always_inline int worker_is_stranger(const struct actor *a, const struct runtime *runtime)
{
	const struct process *p;

	if (runtime && runtime->kind != RUNTIME_WANTED)
		return 0;
	p = process_lookup(&a->key.tgid);
	return (!p || !tally_open(&p->tally)) && !worker_lookup(&a->key);
}

static __always_inline void actor_is_in_phase(struct actor *a, struct runtime *runtime)
{
	enum actor_phase phase;

	if (!runtime || runtime->kind != RUNTIME_NODE)
		return;
	phase = phase_of(runtime);
	a->accepts = phase == PHASE_ACCEPTS;
	a->phase =
	    phase == PHASE_LATER || phase == PHASE_ACCEPTS ? later_phase(&a->key, phase) : phase;
}

/* For which request does it go on with what another thread has done? */
static __always_inline void actor_works(struct actor *a)
{
	const struct work *work = a->phase == PHASE_WORK ? work_of_thread() : NULL;

	if (work)
		a->named = work->request;
}

/* The one that makes or wakes another thread. One of Java may have handed over what it has read. */
static __always_inline void worker_handing_over(struct actor *a, const struct runtime *runtime)
{
	const struct worker *w;

	worker_current(a);
	a->runtime = runtime ? runtime->kind : 0;
	if (!runtime || runtime->kind != RUNTIME_JAVA)
		return;
	if (runtime_virtual(runtime, &a->key) == RUNTIME_WORKER_KNOWN) {
		w = worker_lookup(&a->key);
		a->named = w ? worker_only(w) : 0;
		a->kind = ACTOR_RUNTIME;
		return;
	}
	w = worker_lookup(&a->key);
	if (!w || !java_may_hand_over(w))
		return;
	a->named = java_request_of(w);
	if (!a->named || !java_is_at(a->key.tgid, a->named))
		a->named = 0;
	if (a->named || java_is_unsure(w))
		a->kind = ACTOR_RUNTIME;
}

/*
 * What was the current thread given, which was made for a request (enum given)? It may have been
 * nothing as long as it is not known what its process runs.
 */
VERIFIED_ALONE int thread_is_given(__u32 tgid, __u64 request)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	if (!runtime || runtime->kind == RUNTIME_WANTED)
		return GIVEN_NOTHING;
	if (runtime->kind == RUNTIME_PYTHON)
		return python_thread_is_bare(runtime, tgid, request) ? GIVEN_NOTHING : GIVEN_OWN;
	return runtime->kind == RUNTIME_JAVA ? java_thread_is_given(runtime, tgid, request)
					     : GIVEN_OWN;
}

/* A thread is about to be believed to work for the request that it was made for. */
static __always_inline void actor_doubts(struct actor *a)
{
	const struct worker *w = a->kind == ACTOR_THREAD ? worker_lookup(&a->key) : NULL;

	if (w && w->made_for && !worker_only(w))
		a->doubtful = thread_is_given(a->key.tgid, w->made_for);
}

/* Whoever runs now is about to connect or to call. Returns what is known of its program. */
static __always_inline struct runtime *actor_begins(struct actor *a)
{
	struct task_struct *task = bpf_get_current_task_btf();

	worker_of(a, task);
	a->path = syscall_stack(task);
	return runtime_lookup(a->key.tgid);
}

/* What its runtime has told of it. */
static __always_inline void actor_is_told(struct actor *a, const struct runtime *runtime,
					  enum runtime_worker who, struct named named)
{
	a->kind = actor_kind_of(who);
	a->by = actor_evidence(runtime, a);
	actor_named(a, named);
	actor_works(a);
	actor_doubts(a);
}

/*
 * Node: does the object of the call tell whose it is? Then nothing else counts. Where that was so
 * before, a call for which nobody waits may be the program's own.
 */
static __always_inline void actor_is_called_in_node(struct actor *a, struct runtime *runtime,
						    __u64 socket)
{
	struct process_address at = {.tgid = a->key.tgid, .address = socket};
	__u64 request;

	request = node_calls(runtime, &at);
	if (request == NODE_NOBODY_YET && a->phase == PHASE_READING)
		return;
	if (request == NODE_NOBODY || request == NODE_NOBODY_YET) {
		a->own = (runtime->flags & RUNTIME_OBJECTS) != 0;
	} else if (request) {
		if (!(runtime->flags & RUNTIME_OBJECTS))
			__sync_fetch_and_or(&runtime->flags, RUNTIME_OBJECTS);
		a->kind = ACTOR_RUNTIME;
		a->named = request;
	}
}

/* In C and the like: what do objects of the connection tell, and does it count? */
static __always_inline void actor_is_called_natively(struct actor *a, struct runtime *runtime,
						     struct socket *s, __u64 socket)
{
	struct process_address at = {.tgid = a->key.tgid, .address = socket};

	a->counts = native_calls(runtime, s, &at);
	if (a->counts)
		a->named = s->told;
}

/* A call begins on `s`, the kernel's `socket`: do objects tell more? */
static __always_inline void actor_is_called(struct actor *a, struct runtime *runtime,
					    struct socket *s, __u64 socket)
{
	if (runtime && runtime->kind == RUNTIME_NODE)
		actor_is_called_in_node(a, runtime, socket);
	else if (runtime && runtime->kind == RUNTIME_THREADS && a->kind == ACTOR_THREAD)
		actor_is_called_natively(a, runtime, s, socket);
}

/* The one that connects. */
static __always_inline void worker_connecting(struct actor *a)
{
	struct runtime *runtime = actor_begins(a);
	enum runtime_worker who;
	struct named named;

	if (worker_is_stranger(a, runtime)) {
		a->kind = ACTOR_NOBODY;
		return;
	}
	a->runtime = runtime ? runtime->kind : 0;
	actor_is_in_phase(a, runtime);
	who = runtime_connector(runtime, &a->key, &named);
	actor_is_told(a, runtime, who, named);
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

	if (worker_is_stranger(a, runtime) && (!s->purpose.request || s->calls_end)) {
		a->kind = ACTOR_NOBODY;
		return !runtime;
	}
	a->runtime = runtime ? runtime->kind : 0;
	actor_is_in_phase(a, runtime);
	who = runtime_sender(runtime, &a->key, (__u64)sk, s, &named);
	actor_is_told(a, runtime, who, named);
	actor_is_called(a, runtime, s, (__u64)sk);
	return 0;
}

#endif
