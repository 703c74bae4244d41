/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of Python that the current thread is at, as pairs of words behind the other frames
 * of a sample (sample.h). Where things stand in its interpreter the daemon has found out: of
 * processes that it does not know there are none.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_SAMPLE_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_SAMPLE_BPF_H

#include "compat.bpf.h"
#include "runtimes/python/state.bpf.h"
#include "profile/sample.h"

#define PYTHON_OWNER_3_11 69 /* _PyInterpreterFrame.owner of 3.11: one byte behind is_entry */

/* The node's, pinned; see runtimes/runtime.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runtime);
} runtimes SEC(".maps");

/* From the innermost function outwards. */
struct python_stack {
	const struct runtime_frames *frames;
	struct profile_sample *sample;
	__u64 frame; /* 0: there are no more */
	__u32 name;  /* of a code object: where the address of its name is */
};

/* The C function that runs the last pair was called by C. */
static __always_inline void python_mark_entry(struct profile_sample *s)
{
	__u32 at = s->kernel_count + s->user_count + 2 * s->python_count - 2;

	if (s->python_count && index_within(&at, PROFILE_SLOTS))
		s->frame[at] |= PROFILE_PYTHON_ENTRY;
}

/*
 * Does C call the interpreter for this frame? Before 3.11 it does for each; in 3.11 the frame says
 * so; since 3.12 a frame that is no function's comes next.
 */
static __always_inline int python_is_entry(const struct runtime_frames *frames, __u64 frame)
{
	if (!frames->owner)
		return 1;
	return frames->owner == PYTHON_OWNER_3_11 && (user_read(frame + frames->owner - 1) & 0xff);
}

static __always_inline void python_take(struct python_stack *stack)
{
	struct profile_sample *s = stack->sample;
	__u64 code = user_read(stack->frame + stack->frames->code);
	__u32 at = s->kernel_count + s->user_count + 2 * s->python_count, next = at + 1;

	if (s->python_count >= PROFILE_PYTHON_MAX || !index_within(&at, PROFILE_SLOTS) ||
	    !index_within(&next, PROFILE_SLOTS))
		return;
	s->frame[at] = code & ~PROFILE_PYTHON_ENTRY;
	s->frame[next] = user_read(code + stack->name);
	s->python_count++;
	if (python_is_entry(stack->frames, stack->frame))
		python_mark_entry(s);
}

/* As a callback of bpf_loop(). */
static long python_step(__u32 i, struct python_stack *stack)
{
	const struct runtime_frames *frames = stack->frames;

	if (!stack->frame)
		return 1;
	if (python_is_of_c(frames, stack->frame))
		python_mark_entry(stack->sample);
	else
		python_take(stack);
	stack->frame = user_read(stack->frame + frames->before);
	return 0;
}

/* Fill in what the current thread of a process of Python is at. */
static __always_inline void python_stack_take(struct profile_sample *s)
{
	const struct runtime *runtime = bpf_map_lookup_elem(&runtimes, &s->tgid);
	struct python_stack stack = {.sample = s};

	if (!runtime || runtime->kind != RUNTIME_PYTHON)
		return;
	stack.frames = &runtime->python.frames;
	stack.frame = python_innermost(runtime);
	stack.name = stack.frames->owner ? PROFILE_PYTHON_NAME : PROFILE_PYTHON_NAME_3_10;
	s->python_layout = !stack.frames->owner                       ? PROFILE_PYTHON_3_10
			   : stack.frames->owner == PYTHON_OWNER_3_11 ? PROFILE_PYTHON_3_11
								      : PROFILE_PYTHON_3_12;
	bpf_loop(2 * PROFILE_PYTHON_MAX, python_step, &stack, 0);
}

#endif
