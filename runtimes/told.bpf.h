/* SPDX-License-Identifier: GPL-2.0-only */
/* May others be told what the engine says of a thread while their profiler takes a sample of it? */
#ifndef CTXPROP_RUNTIMES_TOLD_BPF_H
#define CTXPROP_RUNTIMES_TOLD_BPF_H

#include "runtimes/ruby/state.bpf.h"
#include "runtimes/runtime.bpf.h"

/*
 * The current thread, of a process with this runtime. Not in a fiber of Ruby: 1 sample in 200 had
 * the request of another fiber.
 */
static __always_inline int runtime_is_told_at_samples(const struct runtime *runtime)
{
	return runtime->kind != RUNTIME_RUBY || ruby_runs_thread(runtime);
}

#endif
