/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the sampler asks runtimes; who answers says list.h. Where things stand
 * in a process the daemon has found out: of processes that it does not know there are no names.
 */
#ifndef CTXPROP_RUNTIMES_SAMPLE_BPF_H
#define CTXPROP_RUNTIMES_SAMPLE_BPF_H

#include "profile/frame.bpf.h"
#include "runtimes/answer.bpf.h"
#include "runtimes/java/sample.bpf.h"
#include "runtimes/node/sample.bpf.h"
#include "runtimes/python/sample.bpf.h"
#include "runtimes/ruby/sample.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "runtimes/traits.h"

/* User space fills it in when a sample has asked for it by its `named_kind`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, PROFILE_PROCESSES);
	__type(key, __u32); /* tgid */
	__type(value, struct runtime_compiled);
} runtime_compiled SEC(".maps");

static __always_inline const struct runtime *runtime_of_sample(const struct profile_sample *s)
{
	return runtime_lookup(s->tgid);
}

/*
 * Of a process that runtime_compiles(): is the frame at u->pc code of the runtime? Then it is added
 * to the sample, `u` goes on to its caller, or has a reason to stop, and 1 is returned.
 */
static __always_inline int hook_unwind(struct unwind *u)
{
	const struct runtime_compiled *compiled;

	if (u->row)
		return 0;
	compiled = bpf_map_lookup_elem(&runtime_compiled, &u->sample->tgid);
	if (!compiled || compiled->life != u->sample->life) {
		u->sample->named_kind = u->runtime->kind;
		return 0;
	}
	ANSWER(unwind, u->runtime->kind, u, compiled);
	return 0;
}

/*
 * Where the current stack of machine code ends, if the runtime has cut it off there: what lies
 * behind is no caller of what is at work. FRAME_STACK_EVER: it has not; 0: it cannot be told.
 */
static __always_inline __u64 hook_stack_end(const struct runtime *runtime)
{
	ANSWER(stack_end, runtime_kind(runtime), runtime);
	return FRAME_STACK_EVER;
}

/* Fill in, behind all frames, what the thread is at in a runtime that has a stack of its own. */
static __always_inline void hook_stack_take(struct profile_sample *s, const struct runtime *runtime)
{
	ANSWER(stack_take, runtime_kind(runtime), s, runtime);
}

#endif
