/* SPDX-License-Identifier: GPL-2.0-only */
/* May others be told what the engine says of a thread while their profiler takes a sample of it? */
#ifndef CTXPROP_RUNTIMES_TOLD_BPF_H
#define CTXPROP_RUNTIMES_TOLD_BPF_H

#include "runtimes/answer.bpf.h"
#include "runtimes/ruby/state.bpf.h"
#include "runtimes/runtime.bpf.h"

/* The current thread, of a process with this runtime. */
static __always_inline int hook_told_at_samples(const struct runtime *runtime)
{
	ANSWER(told_at_samples, runtime->kind, runtime);
	return 1;
}

#endif
