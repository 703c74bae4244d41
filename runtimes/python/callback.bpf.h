/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Callbacks of Python's futures that are no task's: each runs in a context, mostly in a copy that
 * was made for it, with the future as its argument. Such a one may set the result of another future
 * for which a task waits (tornado reads like that, with a time-out), and so hand on what it was
 * called back for.
 *
 * No probe sees these contexts go. Who is called back next with a context of the same address is
 * noted in its place, or nobody is; and the function must have the future at hand.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_CALLBACK_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_CALLBACK_BPF_H

#include "runtimes/python/maps.bpf.h"
#include "runtimes/python/stack.bpf.h"

#define CALLBACK_FRAMES    4 /* at most so many functions from where it began to where it sets */
#define CALLBACK_VARIABLES 2 /* of each: the first ones, an object and the argument */

/* A future has its result, and whoever is called back in this context has it for `request`. */
static __always_inline void callback_is_given(const struct worker_key *context, __u64 future,
					      __u64 request)
{
	struct task given = {.request = request, .address = future, .flags = TASK_CALLBACK};

	if (context->context && request)
		tasks_set(context, &given);
}

/* Whatever was noted of this context is over, if it was such a callback's. */
static __always_inline void callback_forget(const struct worker_key *context)
{
	const struct task *old = tasks_lookup(context);

	if (old && (old->flags & TASK_CALLBACK))
		tasks_delete(context);
}

/* Has one of the functions that the current thread is at this future as an argument? */
static __always_inline int callback_has(const struct runtime *runtime, __u64 future)
{
	const struct runtime_frames *frames = &runtime->python.frames;
	__u64 frame = python_innermost(runtime);

	for (int i = 0; i < CALLBACK_FRAMES && frame; i++) {
		for (int k = 0; k < CALLBACK_VARIABLES; k++)
			if (user_read(frame + frames->locals + k * sizeof(__u64)) == future)
				return 1;
		frame = user_read(frame + frames->before);
	}
	return 0;
}

/* The request that the current context was called back for; 0: none that is known. It counts once.
 */
static __always_inline __u64 callback_request(const struct runtime *runtime,
					      const struct worker_key *context)
{
	const struct task *given = tasks_lookup(context);
	__u64 request;

	if (!given || !(given->flags & TASK_CALLBACK) || !callback_has(runtime, given->address))
		return 0;
	request = given->request;
	tasks_delete(context);
	return request;
}

#endif
