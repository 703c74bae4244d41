// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "profile/take/whole_stack.h"

#define SCHEDULER "__schedule"

/* `interpreter`: how the names of its functions begin that are one call of it. */
static bool is_interpreter(const struct frame_names *names, __u64 frame, const char *interpreter)
{
	return !(frame & FRAME_KERNEL) && !frame_is_named(frame) &&
	       !strncmp(frame_names_get(names, frame), interpreter, strlen(interpreter));
}

static size_t native_count(const struct stack *stack)
{
	return (size_t)stack->kernel_count + stack->user_count;
}

static size_t count_interpreters(const struct frame_names *names, const struct stack *stack,
				 const char *interpreter)
{
	size_t count = 0;

	for (size_t i = stack->kernel_count; i < native_count(stack); i++)
		count += is_interpreter(names, stack->frame[i], interpreter);
	return count;
}

/* The number of calls of the interpreter that the functions belong to. */
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

/* What of the innermost call belongs to nothing on the other side. */
struct fit {
	size_t calls; /* of the interpreter: they stay as they are */
	size_t named; /* functions: they are left out */
};

/*
 * Do both stacks match? Only if both are complete and have the same number of calls (a call that
 * has just begun has no function yet).
 */
static bool fits(const struct frame_names *names, const struct stack *stack,
		 const struct runtime_names *runtime, struct fit *ret)
{
	const size_t entries = count_entries(stack);
	__u64 unused[PROFILE_NAMED_MAX];
	size_t calls;

	*ret = (struct fit){};
	if (!runtime || !runtime->interpreter || stack_missing(stack) || !stack->named_count ||
	    !(stack->frame[native_count(stack) + stack->named_count - 1] & FRAME_ENTRY))
		return false;
	calls = count_interpreters(names, stack, runtime->interpreter);
	if (calls == entries || !runtime->may_differ)
		return calls == entries;
	if (calls == entries + 1)
		ret->calls = 1;
	if (entries == calls + 1)
		take_call(stack, &ret->named, unused);
	return ret->calls || ret->named;
}

static bool is_switcher(const struct frame_names *names, __u64 frame,
			const struct runtime_names *runtime)
{
	return !(frame & FRAME_KERNEL) && !frame_is_named(frame) &&
	       !strncmp(frame_names_file(names, frame), runtime->switcher,
			strlen(runtime->switcher));
}

/*
 * How many frames are certain, where no functions tell: while a thread exchanges its stack for
 * another one its memory is partly that of either. Whoever exchanges stacks and has called the
 * interpreter does not do so now; and each stack that was exchanged begins with such functions.
 */
static size_t certain_count(const struct frame_names *names, const struct stack *stack,
			    const struct runtime_names *runtime)
{
	size_t begin = native_count(stack);

	if (!runtime || !runtime->switcher)
		return begin;
	while (begin > stack->kernel_count && is_switcher(names, stack->frame[begin - 1], runtime))
		begin--;
	for (size_t i = stack->kernel_count; i < begin; i++) {
		if (is_interpreter(names, stack->frame[i], runtime->interpreter))
			break;
		if (is_switcher(names, stack->frame[i], runtime))
			return i + 1;
	}
	return native_count(stack);
}

/* Is it called without a name that its file would have? */
static bool is_nameless(const struct frame_names *names, __u64 frame)
{
	const char *name = frame_names_get(names, frame), *file = frame_names_file(names, frame);

	return *file && !strncmp(name, file, strlen(file)) && name[strlen(file)] == '+';
}

/* Is frame number i what a call of the interpreter runs all in? */
static bool is_loop(const struct frame_names *names, const struct stack *stack,
		    const struct runtime_names *runtime, size_t i)
{
	const __u64 *frame = &stack->frame[i];

	if (!runtime->loop || i + 1 == native_count(stack) || frame_is_named(*frame) ||
	    !is_interpreter(names, frame[1], runtime->interpreter))
		return false;
	return is_interpreter(names, *frame, runtime->loop) || is_nameless(names, *frame);
}

/* Frames of a wait up to the scheduler's: how the kernel comes to this profiler's program. */
static size_t count_own(const struct frame_names *names, const struct stack *stack)
{
	for (size_t i = 0; stack->is_wait && i < stack->kernel_count; i++)
		if (!strncmp(frame_names_get(names, stack->frame[i]), SCHEDULER, strlen(SCHEDULER)))
			return i;
	return 0;
}

const char *whole_stack_missing(const struct frame_names *names, const struct stack *stack)
{
	const struct runtime_names *runtime = runtime_names_of(stack->named_kind);
	struct fit fit;

	if (!fits(names, stack, runtime, &fit) &&
	    certain_count(names, stack, runtime) < native_count(stack))
		return STACK_SWITCHED;
	return stack_missing(stack);
}

size_t whole_stack_frames(const struct frame_names *names, const struct stack *stack,
			  __u64 *ret_frames)
{
	const struct runtime_names *runtime = runtime_names_of(stack->named_kind);
	const size_t own = count_own(names, stack);
	size_t i = stack->kernel_count, count = i - own, end;
	struct fit fit;
	bool merges = fits(names, stack, runtime, &fit);

	end = merges ? native_count(stack) : certain_count(names, stack, runtime);
	memcpy(ret_frames, stack->frame + own, count * sizeof(*ret_frames));
	for (; i < end; i++) {
		const __u64 frame = stack->frame[i];
		const bool is_call = merges && is_interpreter(names, frame, runtime->interpreter);

		if (is_call && !fit.calls)
			count += take_call(stack, &fit.named, ret_frames + count);
		else if (!merges || fit.calls || !is_loop(names, stack, runtime, i))
			ret_frames[count++] = frame;
		fit.calls -= is_call && fit.calls;
	}
	return count;
}
