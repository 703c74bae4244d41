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

#endif
