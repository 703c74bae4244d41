/* SPDX-License-Identifier: GPL-2.0-only */
/* What a thread of Python, or a greenlet, began with: the functions at the bottom of its stack. */
#ifndef CTXPROP_RUNTIMES_PYTHON_STACK_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_STACK_BPF_H

#include "compat.bpf.h"
#include "runtimes/python/task.bpf.h"

#define FRAMES_MAX  256 /* deeper stacks are not looked through */
#define BEGUN_SIZE  8   /* functions that tell them apart */
#define BEGUN_PRIME 0x100000001b3ULL

struct python_begun {
	__u64 path; /* number made of the outermost functions' code; 0: it cannot be told */
	__u64 code; /* address of the outermost one's */
};

/* A walk from the innermost function outwards. */
struct python_descent {
	__u64 frame; /* that comes next; 0: there are no more */
	struct python_begun begun;
	__u32 tgid;
	__u32 skip; /* so many frames do not count */
};

/* As a callback of bpf_loop(). */
static long python_descend(__u32 index, struct python_descent *walk)
{
	const struct runtime *runtime = runtime_lookup(walk->tgid);
	const struct runtime_frames *frames;

	if (!runtime || !walk->frame)
		return 1;
	frames = &runtime->python.frames;
	if (!python_is_of_c(frames, walk->frame))
		walk->begun.code = user_read(walk->frame + frames->code);
	if (walk->skip)
		walk->skip--;
	else
		walk->begun.path = (walk->begun.path ^ walk->begun.code) * BEGUN_PRIME;
	walk->frame = user_read(walk->frame + frames->before);
	return 0;
}

/* What the current thread, or greenlet, began with. First it is found out how deep it is. */
static __always_inline void python_begins(__u32 tgid, struct python_begun *ret_begun)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct python_descent walk = {.tgid = tgid, .skip = FRAMES_MAX};
	__u64 innermost;

	if (!runtime)
		return;
	innermost = walk.frame = python_innermost(runtime);
	bpf_loop(FRAMES_MAX, python_descend, &walk, 0);
	if (walk.frame || !walk.begun.code)
		return;
	walk.frame = innermost;
	walk.skip = walk.skip + BEGUN_SIZE < FRAMES_MAX ? FRAMES_MAX - BEGUN_SIZE - walk.skip : 0;
	bpf_loop(FRAMES_MAX, python_descend, &walk, 0);
	*ret_begun = walk.begun;
}

#endif
