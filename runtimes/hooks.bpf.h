/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the probes of the kernel's events ask a runtime for: each hook is a choice by the kind of
 * runtime, and has one line for each that answers. For all others the default at its end holds.
 * (BPF has no cheap call through a pointer.)
 */
#ifndef CTXPROP_RUNTIMES_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "probes/object.bpf.h"
#include "probes/probe.bpf.h"
#include "runtimes/java/actor.bpf.h"
#include "runtimes/java/classes.bpf.h"
#include "runtimes/native/actor.bpf.h"
#include "runtimes/node/actor.bpf.h"
#include "runtimes/python/actor.bpf.h"
#include "runtimes/ruby/actor.bpf.h"
#include "runtimes/worker.bpf.h"

/*
 * What names the request of an actor: a goroutine itself, or a virtual thread of Java, a task or
 * stream, an object of Ruby or Java?
 */
static __always_inline enum evidence runtime_evidence(const struct runtime *runtime,
						      const struct actor *a)
{
	if (runtime && (runtime->kind == RUNTIME_PYTHON || runtime->kind == RUNTIME_HAPROXY))
		return EVIDENCE_TASK;
	if (runtime && runtime->kind == RUNTIME_JAVA && a->key.context)
		return EVIDENCE_THREAD;
	if (runtime && (runtime->kind == RUNTIME_RUBY || runtime->kind == RUNTIME_JAVA ||
			runtime->kind == RUNTIME_NODE))
		return EVIDENCE_OBJECT;
	return EVIDENCE_GOROUTINE;
}

/* May it load modules that matter after its first requests? */
static __always_inline int runtime_may_load_more(const struct runtime *runtime)
{
	return runtime->kind == RUNTIME_PYTHON && !(runtime->flags & RUNTIME_TASKS);
}

/* What does the loop at hand do now, where that can be told? Its stack says so while it runs. */
static __always_inline void runtime_finds_phase(struct actor *a, struct runtime *runtime)
{
#ifndef ASKS_APART
	if (runtime && runtime->kind == RUNTIME_NODE)
		node_finds_phase(a, runtime);
#endif
}

/* For which request does it go on with what another thread has done? */
static __always_inline void runtime_goes_on(struct actor *a)
{
	node_goes_on(a);
}

/* The one at hand makes or wakes another thread. */
static __always_inline void runtime_hands_over(struct actor *a, const struct runtime *runtime)
{
	if (runtime && runtime->kind == RUNTIME_JAVA)
		java_hands_over(a, runtime);
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
		return python_thread_is_given(runtime, tgid, request);
	return runtime->kind == RUNTIME_JAVA ? java_thread_is_given(runtime, tgid, request)
					     : GIVEN_OWN;
}

/* A call begins on `s`, the kernel's `socket`: do objects tell more? */
static __always_inline void runtime_is_called(struct actor *a, struct runtime *runtime,
					      struct socket *s, __u64 socket)
{
	if (runtime && runtime->kind == RUNTIME_NODE)
		node_is_called(a, runtime, socket);
	else if (runtime && runtime->kind == RUNTIME_THREADS && a->kind == ACTOR_THREAD)
		native_is_called(a, runtime, s, socket);
}

/* May others than the reader work on it, and does the one who responds tell? */
static __always_inline int runtime_tells_who_responds(const struct actor *a)
{
	if (a->kind == ACTOR_RUNTIME && a->by == EVIDENCE_TASK)
		return 1;
	return a->runtime == RUNTIME_RUBY ||
	       (a->runtime == RUNTIME_PYTHON && a->loop != ACTOR_BLOCKS);
}

/* May what the request is read from tell who works on it? */
static __always_inline int runtime_tells_by_objects(const struct actor *a)
{
	if (a->runtime == RUNTIME_PYTHON)
		return a->kind == ACTOR_THREAD || a->by == EVIDENCE_TASK;
	if (a->runtime == RUNTIME_THREADS)
		return a->loop == ACTOR_LOOP;
	return a->runtime == RUNTIME_RUBY || a->runtime == RUNTIME_JAVA ||
	       a->runtime == RUNTIME_NODE || a->runtime == RUNTIME_WANTED;
}

/* Requests were read from `s`; `is_only`: one, and no other is open there. */
static __always_inline void runtime_has_taken(const struct actor *a, struct socket *s, int is_only)
{
	if (a->runtime != RUNTIME_HAPROXY)
		return;
	s->flags |= SOCKET_TASKS;
	stream_read(is_only);
}

/* The same, after all that was read has been taken up. */
static __always_inline void runtime_has_read(const struct actor *a, struct socket *s)
{
	if (a->runtime == RUNTIME_NODE && later_reads(actor_thread(a)))
		s->flags |= SOCKET_LATER;
}

/* What the request is read from is noted, for what it tells later. */
static __always_inline void runtime_takes(struct runtime *runtime, const struct actor *by, __u64 id)
{
	if (runtime_holds_objects(runtime))
		ruby_reads(by->key.tgid, ruby_context(runtime), id);
	else if (runtime->kind == RUNTIME_JAVA)
		java_takes(runtime, by, id);
	else if (runtime->kind == RUNTIME_PYTHON)
		python_takes(runtime, by, id);
	else if (runtime->kind == RUNTIME_NODE || runtime->kind == RUNTIME_WANTED)
		object_is_read(by->key.tgid, by->path, id, 0);
	if (runtime->kind == RUNTIME_THREADS || runtime->kind == RUNTIME_WANTED)
		native_takes(runtime, by, id);
}

/* A response begins, on a socket whose requests are followed by tasks, streams or objects. */
static __always_inline void runtime_responds(const struct runtime *runtime, __u32 tgid,
					     __u64 request, __u64 socket)
{
	if (runtime->kind == RUNTIME_HAPROXY)
		stream_responds(runtime, tgid, request);
	else if (runtime->kind == RUNTIME_PYTHON)
		runtime_task_responds(runtime, tgid, request, socket);
	else if (runtime_holds_objects(runtime))
		ruby_is_done(runtime, tgid, request);
}

/* The answer comes to a call that another thread has sent. */
static __always_inline void runtime_learns_client(const struct runtime *runtime, __u32 tgid,
						  __u64 request)
{
	if (runtime->kind == RUNTIME_JAVA)
		java_client_learns(tgid, request);
}

/* A call begins on `s`. */
static __always_inline void runtime_calls_on(const struct actor *a, struct sock *sk,
					     struct socket *s)
{
	if (a->runtime == RUNTIME_JAVA)
		java_calls_on(sk, s, a);
}

static __always_inline void runtime_connects(struct actor *a, const struct sock *sk)
{
	if (a->runtime == RUNTIME_JAVA)
		java_connects(sk, a);
}

/* May calls wait for their turn in lists of the program, of which its runtime tells nothing? */
static __always_inline int runtime_may_wait_for_turns(const struct actor *a)
{
	return a->kind == ACTOR_THREAD || a->runtime == RUNTIME_NODE;
}

/* Were there requests that the call could have been made for? */
static __always_inline int last_call_is_unknown(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	return c && !c->evidence && c->veto;
}

/* Does it come from a thread that has read no request, and is no object known that tells more? */
static __always_inline int last_call_is_another_threads(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	return c && c->evidence != EVIDENCE_THREAD && c->evidence != EVIDENCE_OBJECT;
}

/* Does it come from a thread of which only is known who has woken it, or nothing? */
static __always_inline int last_call_is_handed_over(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	return c && (c->evidence == EVIDENCE_WAKE || (!c->evidence && c->veto));
}

/* A call has begun on `s`, and was decided. */
static __always_inline void runtime_has_called(const struct actor *a, struct socket *s)
{
	if (a->runtime == RUNTIME_THREADS && (s->told || last_call_is_unknown(s)))
		native_is_decided(s, a->key.tgid);
	if (a->runtime == RUNTIME_PYTHON && last_call_is_handed_over(s))
		runtime_suspects_pool(a->key.tgid);
	if (a->runtime == RUNTIME_JAVA && last_call_is_another_threads(s))
		runtime_lacks_classes(a->key.tgid);
}

/* The current thread makes `child`. Returns whether all is said with that. */
static __always_inline int runtime_makes_thread(const struct runtime *runtime,
						const struct task_struct *child)
{
	if (!runtime_holds_objects(runtime))
		return 0;
	ruby_thread_runs(child->tgid, child->thread.fsbase);
	return 1;
}

/* The same, for what it works on: `a` is the one that makes it. */
static __always_inline void runtime_makes(struct actor *a, const struct runtime *runtime)
{
	if (runtime_has_tasks(runtime))
		python_makes(a);
}

/* The current thread wakes `woken`, another one of its process. Does it tell it something? */
static __always_inline int runtime_wakes(const struct runtime *runtime,
					 const struct task_struct *woken)
{
	if (!runtime_holds_objects(runtime) || !probe_is_active())
		return 0;
	ruby_thread_runs(woken->tgid, woken->thread.fsbase);
	return ruby_thread_wakes(woken->tgid, woken->thread.fsbase);
}

/* May who wakes a thread that waits for events have it send a call? Then runtime_begins(). */
static __always_inline int runtime_may_wake_loop(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_JAVA && runtime->java.client.exchange_class;
}

/* May who wakes a thread that waits for some time have it do a job? Then runtime_gives(). */
static __always_inline int runtime_may_give(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_JAVA;
}

/* The current thread wakes another one, which waits for nothing but that. */
static __always_inline void runtime_wakes_waiting(const struct runtime *runtime, __u32 tgid)
{
	if (runtime && runtime->kind == RUNTIME_JAVA)
		java_virtual_gives(tgid);
}

#endif
