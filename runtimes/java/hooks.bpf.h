/* SPDX-License-Identifier: GPL-2.0-only */
/* Java: what is noted when its threads read requests, call, connect and wake each other. */
#ifndef CTXPROP_RUNTIMES_JAVA_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_JAVA_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "probes/kernel.bpf.h"
#include "probes/probe.bpf.h"
#include "probes/syscall.bpf.h"
#include "runtimes/call.bpf.h"
#include "runtimes/java/classes.bpf.h"
#include "runtimes/java/given.bpf.h"
#include "runtimes/java/thread.bpf.h"
#include "runtimes/java/worker.bpf.h"

/* A virtual thread names its request itself. */
static __always_inline enum evidence java_evidence(const struct actor *a)
{
	return a->key.context ? EVIDENCE_THREAD : EVIDENCE_OBJECT;
}

static __always_inline int java_objects_tell(const struct actor *a)
{
	return 1;
}

/* The request is read. */
static __always_inline void java_request_read(const struct runtime *runtime, const struct actor *by,
					      __u64 id)
{
	java_reads(runtime, by->key.tgid);
	runtime_reads_without_classes(by->key.tgid);
	if (by->kind != ACTOR_THREAD ||
	    (by->loop == ACTOR_BLOCKS && !runtime->java.client.exchange_class))
		return;
	java_held_make(by->key.tgid);
	java_holds(by->key.tgid, id);
}

/* A call begins. Noted for each: threads may change. */
static __always_inline void java_call_begins(const struct actor *a, const struct runtime *runtime,
					     const struct sock *sk, struct socket *s)
{
	if (java_has_list(&a->key, sk) && !java_client_is_own(a->key.tgid))
		s->flags |= SOCKET_LIST;
	else
		s->flags &= ~SOCKET_LIST;
}

/*
 * A thread connects without waiting, and no client is known yet that it may do that for:
 * what is sent then may be what anybody has put into a list.
 */
static __always_inline void java_connect_begins(struct actor *a, const struct sock *sk)
{
	const struct runtime *runtime = runtime_lookup(a->key.tgid);
	const struct socket___kernel *socket = sk->sk_socket;
	const struct file *file = socket ? socket->file : NULL;
	const struct worker *w = worker_lookup(&a->key);

	if (!runtime || runtime->java.client.exchange_class || a->kind != ACTOR_THREAD || !w ||
	    !file || !(file->f_flags & NONBLOCK) || !worker_only(w))
		return;
	a->named = worker_only(w);
	a->kind = ACTOR_RUNTIME;
	a->doubtful = DOUBT_ALL;
}

/* The one at hand makes or wakes another thread. It may have handed over what it has read. */
static __always_inline void java_hands_over(struct actor *a, const struct runtime *runtime)
{
	const struct worker *w;

	if (java_who_works(runtime, &a->key) == RUNTIME_WORKER_KNOWN) {
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
	else
		java_gives_jobs(a->key.tgid, a->named);
	if (a->named || java_is_unsure(w))
		a->kind = ACTOR_RUNTIME;
}

/* A call was decided: classes may be missing that would tell whose it is. */
static __always_inline void java_call_decided(const struct actor *a, struct socket *s)
{
	if (last_call_is_another_threads(s))
		runtime_lacks_classes(a->key.tgid);
}

/* The answer begins to a call that another thread has sent. */
static __always_inline void java_others_answer_begins(__u32 tgid, __u64 request)
{
	java_client_learns(tgid, request);
}

/* A thread is woken, which waits for events maybe: it may be that of the client, to send a call. */
static __always_inline void java_loop_woken(const struct runtime *runtime,
					    struct task_struct *woken)
{
	if (runtime->java.client.exchange_class && syscall_is_epoll(woken) && probe_is_active())
		java_begins(woken->tgid);
}

/* One is woken that waits for another thread, but not for ever: it may be given a job. */
static __always_inline void java_timed_sleeper_woken(__u32 tgid)
{
	if (probe_is_active())
		java_gives_away(tgid);
}

/* One is woken that waits for nothing but that: a virtual thread may give it something to do. */
static __always_inline void java_sleeper_woken(__u32 tgid)
{
	java_virtual_gives(tgid);
}

#endif
