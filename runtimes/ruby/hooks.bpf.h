/* SPDX-License-Identifier: GPL-2.0-only */
/* Ruby: what is noted when its threads read requests, and make and wake each other. */
#ifndef CTXPROP_RUNTIMES_RUBY_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_RUBY_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "probes/probe.bpf.h"
#include "runtimes/ruby/thread.bpf.h"
#include "runtimes/ruby/worker.bpf.h"

static __always_inline enum evidence ruby_evidence(const struct actor *a)
{
	return EVIDENCE_OBJECT;
}

/* Threads that work for others do. */
static __always_inline int ruby_responder_tells(const struct actor *a)
{
	return 1;
}

static __always_inline int ruby_objects_tell(const struct actor *a)
{
	return 1;
}

/* The request is read. */
static __always_inline void ruby_request_read(const struct runtime *runtime, const struct actor *by,
					      __u64 id)
{
	ruby_reads(by->key.tgid, ruby_context(runtime), id);
}

/* A thread is about to run, of the process of the current one: was it made right now? */
VERIFIED_ALONE int ruby_thread_runs(__u32 tgid, __u64 thread)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	if (runtime_holds_objects(runtime))
		ruby_makes(runtime, tgid, thread);
	return 0;
}

/* The current one wakes one that waits. Does it tell it something? */
VERIFIED_ALONE int ruby_thread_wakes(__u32 tgid, __u64 thread)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	return runtime_holds_objects(runtime) && ruby_wakes(runtime, tgid, thread);
}

/* The same two, of threads as the kernel has them. */
static __always_inline int ruby_thread_made(const struct task_struct *child)
{
	ruby_thread_runs(child->tgid, child->thread.fsbase);
	return 1;
}

static __always_inline int ruby_thread_woken(const struct task_struct *woken)
{
	if (!probe_is_active())
		return 0;
	ruby_thread_runs(woken->tgid, woken->thread.fsbase);
	return ruby_thread_wakes(woken->tgid, woken->thread.fsbase);
}

/* The response begins. */
static __always_inline void ruby_response_begins(const struct runtime *runtime, __u32 tgid,
						 __u64 request, __u64 socket)
{
	ruby_is_done(runtime, tgid, request);
}

#endif
