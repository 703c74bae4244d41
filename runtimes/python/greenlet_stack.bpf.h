/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the stack of machine code ends that a greenlet runs on. Greenlets share the stack of their
 * thread: one begins upon the calls of who has started it, and goes on there when these have long
 * returned. So what lies behind its end has not called it.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_GREENLET_STACK_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_GREENLET_STACK_BPF_H

#include "profile/frame.bpf.h"
#include "runtimes/python/greenlet_state.bpf.h"

/*
 * In which byte of its state a greenlet has the end of its stack. That of a thread's first one is
 * the end of all memory, which is nothing else's value; versions differ in what stands before it.
 * 0: it cannot be told.
 */
VERIFIED_ALONE __u32 greenlet_end_offset(__u64 first)
{
	__u64 words[GREENLET_IMPL_WORDS] = {};

	if (!user_words(user_read(first + GREENLET_IMPL), words, GREENLET_IMPL_WORDS))
		return 0;
	for (__u32 i = 1; i < GREENLET_IMPL_WORDS; i++)
		if (words[i] == FRAME_STACK_EVER)
			return i * sizeof(words[0]);
	return 0;
}

/*
 * As hook_stack_end(), of a process that has greenlets. Of the one that is at work all is on the
 * stack: if some of it was put elsewhere another one takes its place just now.
 */
static __always_inline __u64 greenlet_stack_end(const struct runtime *runtime)
{
	__u64 state = greenlet_state(runtime), first, current, stack[GREENLET_STACK_WORDS];
	__u32 offset;

	if (!state)
		return FRAME_STACK_EVER;
	first = user_read(state + GREENLET_STATE_FIRST);
	current = user_read(state + GREENLET_STATE_CURRENT);
	offset = greenlet_end_offset(first);
	if (!offset)
		return current == first ? FRAME_STACK_EVER : 0;
	if (!user_words(user_read(current + GREENLET_IMPL) + offset, stack, GREENLET_STACK_WORDS) ||
	    stack[GREENLET_STACK_SAVED])
		return 0;
	return stack[GREENLET_STACK_END];
}

#endif
