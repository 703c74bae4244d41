/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the probes of the kernel's events tell runtimes, and ask them. Who answers a hook says
 * list.h; what stands behind ANSWER() holds for all others.
 */
#ifndef CTXPROP_RUNTIMES_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "probes/probe.bpf.h"
#include "runtimes/answer.bpf.h"
#include "runtimes/go/hooks.bpf.h"
#include "runtimes/haproxy/hooks.bpf.h"
#include "runtimes/java/hooks.bpf.h"
#include "runtimes/native/hooks.bpf.h"
#include "runtimes/node/hooks.bpf.h"
#include "runtimes/python/hooks.bpf.h"
#include "runtimes/ruby/hooks.bpf.h"
#include "runtimes/wanted.bpf.h"
#include "runtimes/worker.bpf.h"

/* What names the request of an actor? Where nothing else does, a goroutine itself. */
static __always_inline enum evidence hook_evidence(const struct runtime *runtime,
						   const struct actor *a)
{
	ANSWER(evidence, runtime_kind(runtime), a);
	return EVIDENCE_GOROUTINE;
}

/* May it load modules that matter after its first requests? */
static __always_inline int hook_may_load_more(const struct runtime *runtime)
{
	ANSWER(may_load_more, runtime->kind, runtime);
	return 0;
}

/* What does the loop at hand do now, where that can be told? Its stack says so while it runs. */
static __always_inline void hook_phase(struct actor *a, struct runtime *runtime)
{
#ifndef ASKS_APART
	ANSWER(phase, runtime_kind(runtime), a, runtime);
#endif
}

/* For which request does it go on with what another thread has done? */
static __always_inline void hook_goes_on(struct actor *a)
{
	ANSWER(goes_on, a->runtime, a);
}

/*
 * What was the current thread given, which was made for a request (enum given)? It may have been
 * nothing as long as it is not known what its process runs.
 */
VERIFIED_ALONE int hook_thread_given(__u32 tgid, __u64 request)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	if (!runtime)
		return GIVEN_NOTHING;
	ANSWER(thread_given, runtime->kind, runtime, tgid, request);
	return GIVEN_OWN;
}

/*
 * Something is read, not by a thread but by a task? Then `a` becomes that, and 1 is returned.
 * (Requests, too, are asked hook_who_works().)
 */
static __always_inline int hook_task_reads(const struct runtime *runtime, struct actor *a)
{
	ANSWER(task_reads, runtime_kind(runtime), runtime, a);
	return 0;
}

/* Does a task read from a socket that blocks, and not the thread that is at it? */
static __always_inline int hook_task_stays(const struct runtime *runtime,
					   const struct worker_key *key)
{
	ANSWER(task_stays, runtime->kind, runtime, key);
	return 0;
}

/* An event loop reads a request. */
static __always_inline void hook_loop_reads(const struct runtime *runtime, const struct actor *a)
{
	ANSWER(loop_reads, runtime->kind, runtime, a);
}

/* May others than the reader work on it, and does the one who responds tell? */
static __always_inline int hook_responder_tells(const struct actor *a)
{
	if (a->kind == ACTOR_RUNTIME && a->by == EVIDENCE_TASK)
		return 1;
	ANSWER(responder_tells, a->runtime, a);
	return 0;
}

/* May what the request is read from tell who works on it? Then hook_request_read(). */
static __always_inline int hook_objects_tell(const struct actor *a)
{
	ANSWER(objects_tell, a->runtime, a);
	return 0;
}

/* Requests were read from `s`; `is_only`: one, and no other is open there. */
static __always_inline void hook_requests_read(const struct actor *a, struct socket *s, int is_only)
{
	ANSWER(requests_read, a->runtime, s, is_only);
}

/* A request is taken up, after its first byte was read: what that tells later is noted. */
static __always_inline void hook_request_read(struct runtime *runtime, const struct actor *by,
					      __u64 id)
{
	ANSWER(request_read, runtime->kind, runtime, by, id);
}

/* All requests that were read from `s` have been taken up. */
static __always_inline void hook_read_ends(const struct actor *a, struct socket *s)
{
	ANSWER(read_ends, a->runtime, a, s);
}

/* Something was read, by another worker than a thread: the current thread shows its request. */
static __always_inline void hook_read_shown(const struct runtime *runtime,
					    const struct worker_key *thread)
{
	ANSWER(read_shown, runtime->kind, runtime, thread);
}

/* A response begins, on a socket whose requests are followed by tasks, streams or objects. */
static __always_inline void hook_response_begins(const struct runtime *runtime, __u32 tgid,
						 __u64 request, __u64 socket)
{
	ANSWER(response_begins, runtime->kind, runtime, tgid, request, socket);
}

/* A thread connects: was known before what for? Then `s` has it, and 1 is returned. */
static __always_inline int hook_connect_known(const struct worker_key *thread, struct socket *s)
{
	ANSWER(connect_known, runtime_kind(runtime_lookup(thread->tgid)), thread, s);
	return 0;
}

/* It was not: the one at hand connects. */
static __always_inline void hook_connect_begins(struct actor *a, const struct sock *sk)
{
	ANSWER(connect_begins, a->runtime, a, sk);
}

/* A call begins on `s`, the kernel's `sk`: do objects tell more? */
static __always_inline void hook_call_begins(struct actor *a, struct runtime *runtime,
					     const struct sock *sk, struct socket *s)
{
	ANSWER(call_begins, runtime_kind(runtime), a, runtime, sk, s);
}

/* May calls wait for their turn in lists of the program, of which its runtime tells nothing? */
static __always_inline int hook_call_waits_for_turn(const struct actor *a)
{
	if (a->kind == ACTOR_THREAD)
		return 1;
	ANSWER(call_waits_for_turn, a->runtime, a);
	return 0;
}

/* A call has begun on `s`, and was decided. */
static __always_inline void hook_call_decided(const struct actor *a, struct socket *s)
{
	ANSWER(call_decided, a->runtime, a, s);
}

/* The answer comes to a call whose request an object has told. */
static __always_inline void hook_answer_begins(const struct runtime *runtime, __u32 tgid,
					       __u64 request)
{
	ANSWER(answer_begins, runtime->kind, runtime, tgid, request);
}

/* The same, and another thread has sent the call. */
static __always_inline void hook_others_answer_begins(const struct runtime *runtime, __u32 tgid,
						      __u64 request)
{
	ANSWER(others_answer_begins, runtime->kind, tgid, request);
}

/* The current thread makes `child`. Returns whether all is said with that. */
static __always_inline int hook_thread_made(const struct runtime *runtime,
					    const struct task_struct *child)
{
	ANSWER(thread_made, runtime_kind(runtime), child);
	return 0;
}

/* It is not: the same, for what it works on. `a` is the one that makes it. */
static __always_inline void hook_thread_made_by(struct actor *a, const struct runtime *runtime)
{
	ANSWER(thread_made_by, runtime_kind(runtime), a, runtime);
}

/* The one at hand makes or wakes another thread. */
static __always_inline void hook_hands_over(struct actor *a, const struct runtime *runtime)
{
	ANSWER(hands_over, runtime_kind(runtime), a, runtime);
}

/* The current thread wakes `woken`, another one of its process. Does it tell it something? */
static __always_inline int hook_thread_woken(const struct runtime *runtime,
					     const struct task_struct *woken)
{
	ANSWER(thread_woken, runtime_kind(runtime), woken);
	return 0;
}

/* The same, of one that does not wait for another thread: for events, maybe. */
static __always_inline void hook_loop_woken(const struct runtime *runtime,
					    struct task_struct *woken)
{
	ANSWER(loop_woken, runtime_kind(runtime), runtime, woken);
}

/* The same, of one that waits for another thread, but not for ever. */
static __always_inline void hook_timed_sleeper_woken(const struct runtime *runtime, __u32 tgid)
{
	ANSWER(timed_sleeper_woken, runtime_kind(runtime), tgid);
}

/* The same, of one that waits for nothing but that. */
static __always_inline void hook_sleeper_woken(const struct runtime *runtime, __u32 tgid)
{
	ANSWER(sleeper_woken, runtime_kind(runtime), tgid);
}

#endif
