/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the sampler asks runtimes: the one place that says which folder answers. Where things stand
 * in a process the daemon has found out: of processes that it does not know there are no names.
 */
#ifndef CTXPROP_RUNTIMES_SAMPLE_BPF_H
#define CTXPROP_RUNTIMES_SAMPLE_BPF_H

#include "profile/frame.bpf.h"
#include "runtimes/java/sample.bpf.h"
#include "runtimes/node/sample.bpf.h"
#include "runtimes/python/sample.bpf.h"
#include "runtimes/ruby/sample.bpf.h"

/* User space fills it in when a sample has asked for it by its `named_kind`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROFILE_PROCESSES);
	__type(key, __u32); /* tgid */
	__type(value, struct runtime_compiled);
} runtime_compiled SEC(".maps");

static __always_inline const struct runtime *runtime_of_sample(const struct profile_sample *s)
{
	return bpf_map_lookup_elem(&runtimes, &s->tgid);
}

/* Does it run code that it has compiled itself, on the stack of machine code? */
static __always_inline int runtime_compiles(const struct runtime *runtime)
{
	return runtime->kind == RUNTIME_JAVA || runtime->kind == RUNTIME_NODE;
}

/*
 * Of such a process: is the frame at u->pc code of the runtime? Then it is added to the sample, `u`
 * goes on to its caller, or has a reason to stop, and 1 is returned.
 */
static __always_inline int runtime_unwind(struct unwind *u)
{
	const struct runtime_compiled *compiled;

	if (u->row)
		return 0;
	compiled = bpf_map_lookup_elem(&runtime_compiled, &u->sample->tgid);
	if (!compiled || compiled->life != u->sample->life) {
		u->sample->named_kind = u->runtime->kind;
		return 0;
	}
	return u->runtime->kind == RUNTIME_NODE ? node_unwind(u, &compiled->node)
						: java_unwind(u, &compiled->java);
}

/*
 * Where the current stack of machine code ends, if the runtime has cut it off there: what lies
 * behind is no caller of what is at work. FRAME_STACK_EVER: it has not; 0: it cannot be told.
 */
static __always_inline __u64 runtime_stack_end(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_PYTHON ? python_stack_end(runtime)
							  : FRAME_STACK_EVER;
}

/* Fill in, behind all frames, what the thread is at in a runtime that has a stack of its own. */
static __always_inline void runtime_stack_take(struct profile_sample *s,
					       const struct runtime *runtime)
{
	if (runtime && runtime->kind == RUNTIME_PYTHON)
		python_stack_take(s, runtime);
	if (runtime && runtime->kind == RUNTIME_RUBY)
		ruby_stack_take(s, runtime);
}

#endif
