// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "profile/merged.h"

/* What runs functions of Python (CPython, Python/ceval.c). */
#define INTERPRETER "_PyEval_EvalFrameDefault"

static bool is_interpreter(const struct names *names, __u64 frame)
{
	return !(frame & FRAME_KERNEL) && !frame_is_python(frame) &&
	       !strcmp(names_get(names, frame), INTERPRETER);
}

static size_t native_count(const struct stack *stack)
{
	return (size_t)stack->kernel_count + stack->user_count;
}

static size_t count_interpreters(const struct names *names, const struct stack *stack)
{
	size_t count = 0;

	for (size_t i = stack->kernel_count; i < native_count(stack); i++)
		count += is_interpreter(names, stack->frame[i]);
	return count;
}

/* How many calls of the interpreter the functions make up. */
static size_t count_entries(const struct stack *stack)
{
	size_t count = 0;

	for (size_t i = 0; i < stack->python_count; i++)
		count += (stack->frame[native_count(stack) + i] & FRAME_ENTRY) != 0;
	return count;
}

/* The functions of one call, from number *at on. Returns how many were written. */
static size_t take_call(const struct stack *stack, size_t *at, __u64 *ret_frames)
{
	const __u64 *python = stack->frame + native_count(stack);
	size_t count = 0;

	while (*at < stack->python_count) {
		const __u64 frame = python[(*at)++];

		ret_frames[count++] = frame & ~FRAME_ENTRY;
		if (frame & FRAME_ENTRY)
			break;
	}
	return count;
}

/*
 * The outermost calls belong together, if the whole stack is known. A call that has just begun, or
 * is about to end, has no function: the innermost ones.
 */
size_t merged_frames(const struct names *names, const struct stack *stack, __u64 *ret_frames)
{
	size_t interpreters = count_interpreters(names, stack), entries = count_entries(stack);
	const bool fits = !stack_missing(stack) && entries && entries <= interpreters &&
			  stack->frame[native_count(stack) + stack->python_count - 1] & FRAME_ENTRY;
	size_t count = 0, python = 0, without = fits ? interpreters - entries : 0;

	for (size_t i = 0; i < native_count(stack); i++) {
		const __u64 frame = stack->frame[i];
		bool calls = fits && i >= stack->kernel_count && is_interpreter(names, frame);

		if (calls && without) {
			without--;
			calls = false;
		}
		if (calls)
			count += take_call(stack, &python, ret_frames + count);
		else
			ret_frames[count++] = frame;
	}
	return count;
}
