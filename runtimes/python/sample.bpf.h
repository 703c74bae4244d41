/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions of Python that the current thread is at, as pairs of words behind the other frames
 * of a sample (sample.h). Where things stand in its interpreter the daemon has found out: of
 * processes that it does not know there are none.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_SAMPLE_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_SAMPLE_BPF_H

#include "compat.bpf.h"
#include "profile/named.bpf.h"
#include "runtimes/python/code_layout.h"
#include "runtimes/python/greenlet_stack.bpf.h"
#include "runtimes/python/state.bpf.h"

#define PYTHON_OWNER_3_11 69 /* _PyInterpreterFrame.owner of 3.11: one byte behind is_entry */

/* From the innermost function outwards. */
struct python_stack {
	const struct runtime_frames *frames;
	struct profile_sample *sample;
	__u64 frame; /* 0: there are no more */
	__u32 name;  /* of a code object: where the address of its name is */
};

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
	__u64 code = user_read(stack->frame + stack->frames->code);
	__u64 name = user_read(code + stack->name);

	if (stack->sample->named_count >= PROFILE_NAMED_MAX)
		return;
	named_add(stack->sample, code, name);
	if (python_is_entry(stack->frames, stack->frame))
		named_mark_entry(stack->sample);
}

/* As a callback of bpf_loop(). */
static long python_sample_step(__u32 i, struct python_stack *stack)
{
	const struct runtime_frames *frames = stack->frames;

	if (!stack->frame)
		return 1;
	if (python_is_of_c(frames, stack->frame))
		named_mark_entry(stack->sample);
	else
		python_take(stack);
	stack->frame = user_read(stack->frame + frames->before);
	return 0;
}

/* As hook_stack_end(). */
static __always_inline __u64 python_stack_end(const struct runtime *runtime)
{
	return runtime->python.greenlets ? greenlet_stack_end(runtime) : FRAME_STACK_EVER;
}

/* Fill in what the current thread of a process of Python is at. */
static __always_inline void python_stack_take(struct profile_sample *s,
					      const struct runtime *runtime)
{
	struct python_stack stack = {.sample = s, .frames = &runtime->python.frames};

	stack.frame = python_innermost(runtime);
	stack.name = stack.frames->owner ? PYTHON_CODE_NAME : PYTHON_CODE_NAME_3_10;
	s->named_kind = RUNTIME_PYTHON;
	s->named_layout = !stack.frames->owner                       ? PYTHON_CODE_3_10
			  : stack.frames->owner == PYTHON_OWNER_3_11 ? PYTHON_CODE_3_11
								     : PYTHON_CODE_3_12;
	bpf_loop(2 * PROFILE_NAMED_MAX, python_sample_step, &stack, 0);
}

#endif
