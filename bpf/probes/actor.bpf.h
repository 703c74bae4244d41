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
#include "probes/runtime.bpf.h"

/* The current thread. */
static __always_inline void worker_current(struct actor *a)
{
	__u64 id = bpf_get_current_pid_tgid();

	__builtin_memset(a, 0, sizeof(*a));
	a->key.tgid = id >> 32;
	a->key.tid = (__u32)id;
	a->kind = ACTOR_THREAD;
	a->path = syscall_stack();
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
}

/* What runs the actor: does a goroutine stand for itself, or the task that Python knows? */
static __always_inline enum evidence actor_evidence(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	return runtime && runtime->kind == RUNTIME_PYTHON ? EVIDENCE_TASK : EVIDENCE_GOROUTINE;
}

/* The worker that the current thread is, or runs, and that reads a request. */
static __always_inline void worker_reading(struct actor *a, const struct sock *sk)
{
	worker_current(a);
	a->kind = actor_kind_of(runtime_reader(&a->key));
	if (a->kind == ACTOR_THREAD)
		a->loop = turn_begin(sk, &a->turn);
	else
		a->by = actor_evidence(a->key.tgid);
	if (a->by == EVIDENCE_TASK)
		turn_begin(sk, &a->turn);
}

/* The one that reads anything else: of goroutines does not matter which. */
static __always_inline void worker_reading_on(struct actor *a, const struct sock *sk)
{
	const struct runtime *runtime;

	worker_current(a);
	runtime = runtime_lookup(a->key.tgid);
	if (runtime_has_tasks(runtime)) {
		a->kind = actor_kind_of(runtime_context(runtime, &a->key));
		a->by = EVIDENCE_TASK;
	} else {
		a->kind = actor_kind_of(runtime_kind(runtime));
	}
	if (a->kind == ACTOR_THREAD)
		a->loop = turn_begin(sk, &a->turn);
}

/* The one that connects. */
static __always_inline void worker_connecting(struct actor *a)
{
	struct named named;

	worker_current(a);
	a->kind = actor_kind_of(runtime_connector(&a->key, &named));
	a->by = actor_evidence(a->key.tgid);
	actor_named(a, named);
}

/* The one that begins a call. */
static __always_inline void worker_calling(struct actor *a, const struct sock *sk)
{
	struct named named;

	worker_current(a);
	a->kind = actor_kind_of(runtime_sender(&a->key, (__u64)sk, &named));
	a->by = actor_evidence(a->key.tgid);
	actor_named(a, named);
}

#endif
