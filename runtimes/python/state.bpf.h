/* SPDX-License-Identifier: GPL-2.0-only */
/* What the interpreter of Python knows of the current thread: its state, and where it is. */
#ifndef CTXPROP_RUNTIMES_PYTHON_STATE_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_STATE_BPF_H

#include "runtimes/runtime.h"
#include "probes/user.bpf.h"

/* glibc on x86-64: thread-specific data 0 to 31, of a number and a pointer each, in struct pthread
 */
#define PTHREAD_DATA       0x310
#define PTHREAD_DATA_SIZE  16
#define PTHREAD_DATA_FIRST 32

/* The state that Python keeps of the current thread; 0: none, or it cannot be told. */
static __always_inline __u64 task_thread_state(const struct runtime *runtime)
{
	__u64 thread = user_thread_pointer(), state;
	__u32 key = user_read(runtime->python.key);

	if (!thread || key >= PTHREAD_DATA_FIRST)
		return 0;
	state = user_read(thread + PTHREAD_DATA + key * PTHREAD_DATA_SIZE + sizeof(__u64));
	return state && user_read(state + runtime->python.thread_offset) == thread ? state : 0;
}

/* Is it no function's, but one that C begins with? These are there since 3.12. */
static __always_inline int python_is_of_c(const struct runtime_frames *frames, __u64 frame)
{
	return frames->owner && (user_read(frame + frames->owner) & 0xff) == PYTHON_FRAME_OF_C;
}

/* The frame of the function that the current thread is at; 0: it cannot be told. */
static __always_inline __u64 python_innermost(const struct runtime *runtime)
{
	const struct runtime_frames *frames = &runtime->python.frames;
	__u64 state = task_thread_state(runtime), first;

	if (!state || !frames->first)
		return 0;
	first = user_read(state + frames->first);
	return first && frames->within != PYTHON_FRAME_ITSELF ? user_read(first + frames->within)
							      : first;
}

#endif
