/* SPDX-License-Identifier: GPL-2.0-only */
/* Ruby: what is noted when its threads read requests, and make and wake each other. */
#ifndef CTXPROP_RUNTIMES_RUBY_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_RUBY_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "runtimes/ruby/thread.bpf.h"
#include "runtimes/ruby/worker.bpf.h"

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

#endif
