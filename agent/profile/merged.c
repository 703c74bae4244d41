// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "profile/merged.h"

#define SCHEDULER "__schedule"

/* `interpreter`: how the names of its functions begin that are one call of it. */
static bool is_interpreter(const struct names *names, __u64 frame, const char *interpreter)
{
	return !(frame & FRAME_KERNEL) && !frame_is_named(frame) &&
	       !strncmp(names_get(names, frame), interpreter, strlen(interpreter));
}

static size_t native_count(const struct stack *stack)
{
	return (size_t)stack->kernel_count + stack->user_count;
}

static size_t count_interpreters(const struct names *names, const struct stack *stack,
				 const char *interpreter)
{
	size_t count = 0;

	for (size_t i = stack->kernel_count; i < native_count(stack); i++)
		count += is_interpreter(names, stack->frame[i], interpreter);
	return count;
}

/* How many calls of the interpreter the functions make up. */
static size_t count_entries(const struct stack *stack)
{
	size_t count = 0;

	for (size_t i = 0; i < stack->named_count; i++)
		count += (stack->frame[native_count(stack) + i] & FRAME_ENTRY) != 0;
	return count;
}

/* The functions of one call, from number *at on. Returns how many were written. */
static size_t take_call(const struct stack *stack, size_t *at, __u64 *ret_frames)
{
	const __u64 *named = stack->frame + native_count(stack);
	size_t count = 0;

	while (*at < stack->named_count) {
		const __u64 frame = named[(*at)++];

		ret_frames[count++] = frame & ~FRAME_ENTRY;
		if (frame & FRAME_ENTRY)
			break;
	}
	return count;
}

/*
 * Only if the whole stack is known, and there are as many calls on either side: those of a greenlet
 * stand upon calls that are not its own, and a call that has just begun has no function yet.
 */
static bool fits(const struct names *names, const struct stack *stack, const char *interpreter)
{
	return interpreter && !stack_missing(stack) && stack->named_count &&
	       count_entries(stack) == count_interpreters(names, stack, interpreter) &&
	       stack->frame[native_count(stack) + stack->named_count - 1] & FRAME_ENTRY;
}

/* Frames of a wait up to the scheduler's: how the kernel comes to this profiler's program. */
static size_t count_own(const struct names *names, const struct stack *stack)
{
	for (size_t i = 0; stack->is_wait && i < stack->kernel_count; i++)
		if (!strncmp(names_get(names, stack->frame[i]), SCHEDULER, strlen(SCHEDULER)))
			return i;
	return 0;
}

size_t merged_frames(const struct names *names, const struct stack *stack, __u64 *ret_frames)
{
	const struct runtime_names *runtime = runtime_names_of(stack->named_kind);
	const char *interpreter = runtime ? runtime->interpreter : NULL;
	const bool merges = fits(names, stack, interpreter);
	size_t count = 0, named = 0;

	for (size_t i = count_own(names, stack); i < native_count(stack); i++) {
		const __u64 frame = stack->frame[i];

		if (merges && i >= stack->kernel_count && is_interpreter(names, frame, interpreter))
			count += take_call(stack, &named, ret_frames + count);
		else
			ret_frames[count++] = frame;
	}
	return count;
}
