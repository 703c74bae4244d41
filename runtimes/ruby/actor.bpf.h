/* SPDX-License-Identifier: GPL-2.0-only */
/* Ruby: threads make and wake each other. */
#ifndef CTXPROP_RUNTIMES_RUBY_ACTOR_BPF_H
#define CTXPROP_RUNTIMES_RUBY_ACTOR_BPF_H

#include "runtimes/ruby/thread.bpf.h"
#include "runtimes/ruby/worker.bpf.h"

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
