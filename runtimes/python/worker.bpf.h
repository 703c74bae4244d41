/* SPDX-License-Identifier: GPL-2.0-only */
/* Python: the context that has been entered, the greenlet, or the thread; and who has written. */
#ifndef CTXPROP_RUNTIMES_PYTHON_WORKER_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_WORKER_BPF_H

#include "runtimes/python/greenlet.bpf.h"
#include "runtimes/python/frame.bpf.h"
#include "runtimes/python/task_thread.bpf.h"
#include "runtimes/python/transport.bpf.h"
#include "runtimes/worker_kind.bpf.h"

static __always_inline int runtime_has_tasks(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_PYTHON && (runtime->flags & RUNTIME_TASKS);
}

/* The context that has been entered, or the greenlet, or the thread. */
static __always_inline enum runtime_worker python_who_works(const struct runtime *runtime,
							    struct worker_key *key)
{
	if (!runtime_has_tasks(runtime))
		return RUNTIME_WORKER_THREAD;
	return runtime_object(key, python_worker(runtime, key->tgid));
}

/*
 * Has the thread a request of its own, or out of a queue, whatever context it has entered since?
 * What it took out for nobody that is known tells nothing.
 */
static __always_inline int runtime_thread_serves(const struct worker_key *thread)
{
	const struct worker *w = worker_lookup(thread);

	return w && !w->turn.item &&
	       (worker_only(w) || (w->inherited && w->inherited_by == EVIDENCE_TASK));
}

/* Has it what it took out of a queue? That counts only while it has. */
static __always_inline int runtime_thread_holds(const struct worker_key *thread)
{
	const struct worker *w = worker_lookup(thread);

	return !w || !w->queue || !w->inherited || worker_only(w) || python_holds(thread->tgid);
}

/* Is known of a thread where it gets its work: does it read requests, was it made for one? */
static __always_inline int runtime_thread_is_known(const struct worker_key *thread)
{
	const struct worker *w = worker_lookup(thread);

	return w && (w->taken || w->turn.item || w->made_for || w->queue);
}

/* As python_who_works(), with the request of the context, of a greenlet, or of a task that waits.
 */
static __always_inline enum runtime_worker
runtime_task(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	struct worker_key thread = *key;
	enum runtime_worker who = runtime_object(key, task_current(runtime));
	__u64 greenlet;
	int holds;

	if (who == RUNTIME_WORKER_KNOWN)
		*ret_named = task_calls(runtime, key);
	if (ret_named->request)
		return who;
	greenlet = runtime->python.greenlets ? greenlet_calls(thread.tgid, ret_named) : 0;
	if (greenlet)
		return runtime_object(key, greenlet);
	/* (Who learns has nothing inherited any more then: no room on the stack for the answer.) */
	holds = runtime_thread_holds(&thread) || ENGINE_LEARNS;
	if (holds && runtime_thread_serves(&thread)) {
		*key = thread;
		return RUNTIME_WORKER_THREAD;
	}
	*ret_named = task_thread_request(runtime, thread.tgid);
	if (!ret_named->request && who == RUNTIME_WORKER_THREAD &&
	    !runtime_thread_is_known(&thread))
		ret_named->request = python_serves(thread.tgid);
	if (ret_named->request)
		return RUNTIME_WORKER_KNOWN;
	return holds ? who : RUNTIME_WORKER_UNKNOWN;
}

static __always_inline enum runtime_worker
python_who_connects(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	if (!runtime_has_tasks(runtime))
		return RUNTIME_WORKER_THREAD;
	return runtime_task(runtime, key, ret_named);
}

/* The same, for who sends on a socket at this address: of uvloop's it is who has written. */
static __always_inline enum runtime_worker python_who_calls(const struct runtime *runtime,
							    struct worker_key *key, __u64 socket,
							    const struct socket *s,
							    struct named *ret_named)
{
	const struct written *written = NULL;
	struct task *task;

	if (!runtime_has_tasks(runtime))
		return RUNTIME_WORKER_THREAD;
	if (runtime->flags & RUNTIME_TRANSPORTS)
		written = transport_writer(key->tgid, socket);
	if (!written)
		return runtime_task(runtime, key, ret_named);
	*key = written->by;
	*ret_named = written->named;
	task = task_lookup(runtime, key);
	if (task && task->made_ns == written->made_ns)
		task->flags |= TASK_CALLED;
	return RUNTIME_WORKER_KNOWN;
}

/* A response is sent: by the current context, or by that which has written it. */
static __always_inline void python_response_begins(const struct runtime *runtime, __u32 tgid,
						   __u64 request, __u64 socket)
{
	struct worker_key key = {.tgid = tgid, .context = task_current(runtime)};
	const struct written *written;

	if (!(runtime->flags & RUNTIME_TRANSPORTS)) {
		task_responds(tgid, task_is_for(runtime, &key, request), request);
		return;
	}
	written = transport_writer(tgid, socket);
	if (!written)
		return;
	key = written->by;
	task_is_for(runtime, &key, request);
	task_responds(tgid, written->request, request);
}

#endif
