/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Greenlets of Python (gevent, eventlet): which one is at work, and for which request. They take
 * turns on a thread, each goes on where it was. So a greenlet is the worker, as a goroutine is; it
 * is named by the address of its object, and what is known of it stands in map `goroutines`.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_GREENLET_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_GREENLET_BPF_H

#include "compat.bpf.h"
#include "runtimes/goroutine.bpf.h"
#include "runtimes/python/greenlet_state.bpf.h"
#include "runtimes/python/stack.bpf.h"
#include "runtimes/python/task.bpf.h"

/* The greenlet that the current thread is at; 0: none, or the one that any thread begins with. */
VERIFIED_ALONE __u64 greenlet_of_thread(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	__u64 state = runtime ? greenlet_state(runtime) : 0, current;

	if (!state)
		return 0;
	current = user_read(state + GREENLET_STATE_CURRENT);
	return current == user_read(state + GREENLET_STATE_FIRST) ? 0 : current;
}

static __always_inline __u64 greenlet_current(const struct runtime *runtime, __u32 tgid)
{
	return runtime->python.greenlets ? greenlet_of_thread(tgid) : 0;
}

/* What is at work on the current thread: a context that has been entered, or a greenlet, or 0. */
static __always_inline __u64 python_worker(const struct runtime *runtime, __u32 tgid)
{
	__u64 context = task_current(runtime);

	return context ? context : greenlet_current(runtime, tgid);
}

/*
 * The current greenlet has been made by another one, and does something for the first time: what
 * it was begun with is known by now. One that makes its like may do so for whatever comes next.
 */
VERIFIED_ALONE int greenlet_settle(__u32 tgid, __u64 greenlet)
{
	struct worker_key key = {.tgid = tgid, .context = greenlet};
	struct goroutine *known = goroutine_lookup(&key);
	struct python_begun begun = {};

	if (!known || known->start || !known->inherited)
		return 0;
	python_begins(tgid, &begun);
	known->start = begun.path;
	if (!begun.path || begun.code == known->serves)
		known->flags |= GOROUTINE_DOUBTFUL;
	return 0;
}

/* The request that the current greenlet works on: it has read it, or its maker worked for it. */
static __always_inline struct named greenlet_request(const struct worker_key *key)
{
	if (ENGINE_LEARNS)
		greenlet_settle(key->tgid, key->context);
	return goroutine_request(key);
}

/* Has the thread read a request from a socket that blocks? Then its greenlets work for that. */
static __always_inline int greenlet_thread_blocks(const struct worker_key *thread)
{
	const struct worker *w = worker_lookup(thread);

	return w && !(w->flags & (WORKER_LOOP | WORKER_MAYBE)) && worker_only(w);
}

/*
 * The greenlet that calls or connects, and what it works on; 0: the thread does it. (A function of
 * its own, and a small one: stacks are.)
 */
VERIFIED_ALONE __u64 greenlet_calls(__u32 tgid, struct named *ret_named)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct goroutine *known;

	if (!ret_named || greenlet_thread_blocks(&key))
		return 0;
	key.tid = 0;
	key.context = greenlet_of_thread(tgid);
	if (!key.context)
		return 0;
	*ret_named = greenlet_request(&key);
	if (!ENGINE_LEARNS)
		return key.context;
	known = goroutine_lookup(&key);
	if (known)
		known->flags |= GOROUTINE_CALLED;
	return key.context;
}

#endif
