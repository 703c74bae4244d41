/* SPDX-License-Identifier: GPL-2.0-only */
/* What Ruby knows of a thread: its execution context. */
#ifndef CTXPROP_RUNTIMES_RUBY_STATE_BPF_H
#define CTXPROP_RUNTIMES_RUBY_STATE_BPF_H

#include "runtimes/runtime.h"
#include "probes/tls.bpf.h"
#include "probes/user.bpf.h"

#define WORD 8 /* bytes */

/* The execution context of the thread with this pointer; 0: it has none, and had none before. */
static __always_inline __u64 ruby_context_of(const struct runtime *runtime, __u64 thread)
{
	__u64 slot = runtime->ruby.slot, block;

	if (!thread || !slot)
		return thread ? user_read(thread + runtime->ruby.offset) : 0;
	block = tls_block(thread, user_read(slot));
	return block ? user_read(block + user_read(slot + WORD)) : 0;
}

/* That of the current thread. */
static __always_inline __u64 ruby_context(const struct runtime *runtime)
{
	return ruby_context_of(runtime, user_thread_pointer());
}

/* Ruby's stack ends so near, or nearer, to the thread pointer where it lies on the native stack. */
#define RUBY_STACK_DISTANCE_MAX (64ULL << 10)

/* Does the current thread run a block of its own, and no fiber? From 3.3 on that is not known: 0.
 */
static __always_inline int ruby_runs_thread(const struct runtime *runtime)
{
	__u64 context = ruby_context(runtime), thread = user_thread_pointer();
	__u64 end =
	    user_read(context + RUBY_CONTEXT_STACK) + user_read(context + RUBY_CONTEXT_SIZE) * WORD;

	return context && thread - end < RUBY_STACK_DISTANCE_MAX;
}

/* Not in a fiber: 1 sample in 200 had the request of another one. */
static __always_inline int ruby_told_at_samples(const struct runtime *runtime)
{
	return ruby_runs_thread(runtime);
}

#endif
