/* SPDX-License-Identifier: GPL-2.0-only */
/* Python: what is noted when its threads read requests and make others. */
#ifndef CTXPROP_RUNTIMES_PYTHON_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_HOOKS_BPF_H

#include "probes/thread.bpf.h"
#include "runtimes/call.bpf.h"
#include "runtimes/python/protocol.bpf.h"
#include "runtimes/python/show.bpf.h"
#include "runtimes/python/thread.bpf.h"
#include "runtimes/python/worker.bpf.h"

static __always_inline enum evidence python_evidence(const struct actor *a)
{
	return EVIDENCE_TASK;
}

/* Modules with tasks may be loaded late. */
static __always_inline int python_may_load_more(const struct runtime *runtime)
{
	return !(runtime->flags & RUNTIME_TASKS);
}

/* Something is read: by a task or greenlet, where these are followed? */
static __always_inline int python_task_reads(const struct runtime *runtime, struct actor *a)
{
	if (!runtime_has_tasks(runtime))
		return 0;
	a->kind = actor_kind_of(python_who_works(runtime, &a->key));
	a->by = EVIDENCE_TASK;
	return 1;
}

/* A greenlet has its own stack, and reads from sockets that block. */
static __always_inline int python_task_stays(const struct runtime *runtime,
					     const struct worker_key *key)
{
	return key->context && greenlet_current(runtime, key->tgid) == key->context;
}

static __always_inline int python_responder_tells(const struct actor *a)
{
	return a->loop != ACTOR_BLOCKS;
}

static __always_inline int python_objects_tell(const struct actor *a)
{
	return a->kind == ACTOR_THREAD || a->by == EVIDENCE_TASK;
}

/* The request is read. */
static __always_inline void python_request_read(const struct runtime *runtime,
						const struct actor *by, __u64 id)
{
	python_reads(by->key.tgid, id, by->kind == ACTOR_THREAD && by->loop == ACTOR_BLOCKS);
	if (runtime->flags & RUNTIME_TRANSPORTS)
		python_reads_socket(by->key.tgid, id, by->path);
}

/* The current thread makes another one. It may serve what somebody else has read. */
VERIFIED_ALONE int python_makes(struct actor *by)
{
	const struct runtime *runtime = by ? runtime_lookup(by->key.tgid) : NULL;
	struct worker_key thread;

	if (!runtime)
		return 0;
	thread = by->key;
	if (task_current(runtime)) /* it may run functions for tasks */
		runtime_suspects_pool(thread.tgid);
	if (runtime_thread_serves(&thread) || runtime_thread_is_known(&thread))
		return 0;
	by->named = python_serves(thread.tgid);
	if (by->named)
		by->kind = ACTOR_RUNTIME;
	return 0;
}

static __always_inline void python_thread_made_by(struct actor *a, const struct runtime *runtime)
{
	if (runtime_has_tasks(runtime))
		python_makes(a);
}

/* A call was decided: its work may have been handed over in ways that are not followed yet. */
static __always_inline void python_call_decided(const struct actor *a, struct socket *s)
{
	if (last_call_is_handed_over(s))
		runtime_suspects_pool(a->key.tgid);
}

#endif
