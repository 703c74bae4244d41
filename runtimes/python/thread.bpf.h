/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread of Python was made to do: has it been given something of its own, or may it go for
 * whatever waits somewhere?
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_THREAD_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_THREAD_BPF_H

#include "runtimes/python/frame.bpf.h"

#define PYTHON_DEPTH_MAX 512                   /* functions that are gone through */
#define PYTHON_ROOTS     4                     /* the outermost of these are kept */
#define THREAD_OF_PYTHON 0x00646165726854ULL   /* "Thread", as text */
#define TIMER_OF_PYTHON  0x00000072656d6954ULL /* "Timer" */

/* A walk from the innermost function of a thread to the one that it began with. */
struct python_roots {
	const struct runtime_frames *frames;
	__u64 frame;              /* 0: there are no more */
	__u64 root[PYTHON_ROOTS]; /* the outermost first */
};

/* As a callback of bpf_loop(). */
static long python_roots_step(__u32 index, struct python_roots *roots)
{
	if (!roots->frame)
		return 1;
	if (!python_is_of_c(roots->frames, roots->frame)) {
		roots->root[3] = roots->root[2];
		roots->root[2] = roots->root[1];
		roots->root[1] = roots->root[0];
		roots->root[0] = roots->frame;
	}
	roots->frame = user_read(roots->frame + roots->frames->before);
	return 0;
}

static __always_inline __u64 python_first_argument(const struct python_roots *roots, int root)
{
	return roots->root[root] ? user_read(roots->root[root] + roots->frames->locals) : 0;
}

/* Does a thread begin with functions of an object of its own (threading.Thread)? */
static __always_inline int python_is_object(const struct python_roots *roots)
{
	__u64 self = python_first_argument(roots, 0);

	return self && python_first_argument(roots, 1) == self &&
	       python_first_argument(roots, 2) == self;
}

/* Do these call the function that it was given, and nothing else? */
static __always_inline int python_calls_given(const struct python_roots *roots)
{
	__u64 self = python_first_argument(roots, 0);
	__u64 name = user_read(user_read(python_type(self) + PYTHON_TYPE_NAME));

	return (name & (1ULL << 56) - 1) == THREAD_OF_PYTHON ||
	       (name & (1ULL << 48) - 1) == TIMER_OF_PYTHON;
}

/*
 * Was the current thread, which was made for this request, given nothing of its own? The run() of
 * an object of another class is that object's, and is not looked into.
 */
static __always_inline int python_thread_is_bare(const struct runtime *runtime, __u32 tgid,
						 __u64 request)
{
	struct python_roots roots = {.frames = &runtime->python.frames,
				     .frame = python_innermost(runtime)};
	__u64 job;

	bpf_loop(PYTHON_DEPTH_MAX, python_roots_step, &roots, 0);
	job = roots.root[0];
	if (python_is_object(&roots))
		job = python_calls_given(&roots) ? roots.root[3] : 0;
	return job && python_job_is_bare(tgid, job, request);
}

/* As hook_thread_given(). */
static __always_inline enum given python_thread_given(const struct runtime *runtime, __u32 tgid,
						      __u64 request)
{
	return python_thread_is_bare(runtime, tgid, request) ? GIVEN_NOTHING : GIVEN_OWN;
}

#endif
