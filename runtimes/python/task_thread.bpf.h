/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads of Python that work for a task. Who runs a function for a task, as anyio's workers do,
 * gets a copy of the task's context to run it in, and a future that the task waits for. Both are
 * local variables of the function that the thread began with, which stand at the beginning of the
 * thread's own stack for as long as the thread is at it.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_TASK_THREAD_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_TASK_THREAD_BPF_H

#include "compat.bpf.h"
#include "runtimes/python/task.bpf.h"

#define CONTEXTS_INSIDE 3  /* the current context, and those that it was entered from */
#define STACK_CHUNKS    16 /* that Python's stack of one thread may have */
#define STACK_WORDS     8  /* that are read at a time */
#define STACK_LOOKED_AT 32 /* times that: the first functions of a thread */
#define LOCALS_BEHIND   8  /* local variables behind the context */

/* A walk over the beginning of a stack. */
struct task_thread {
	__u64 at;
	__u64 context[CONTEXTS_INSIDE]; /* 0: there are no more */
	__u64 local;                    /* address of the variable with one of them; 0: none yet */
};

/* As a callback of bpf_loop(). */
static long task_thread_look(__u32 index, struct task_thread *walk)
{
	__u64 words[STACK_WORDS];

	if (bpf_probe_read_user(words, sizeof(words), (const void *)walk->at))
		return 1;
	for (int i = 0; i < STACK_WORDS && !walk->local; i++)
		for (int j = 0; j < CONTEXTS_INSIDE; j++)
			if (words[i] && words[i] == walk->context[j])
				walk->local = walk->at + i * sizeof(__u64);
	walk->at += sizeof(words);
	return walk->local != 0;
}

/* Where a thread's stack begins: in the first of its chunks. */
static __always_inline __u64 task_thread_stack(__u64 chunk)
{
	for (int i = 0; i < STACK_CHUNKS; i++) {
		__u64 before = user_read(chunk + PYTHON_CHUNK_BEFORE);

		if (!before)
			return chunk ? chunk + PYTHON_CHUNK_DATA : 0;
		chunk = before;
	}
	return 0;
}

/* The task that waits for a future; 0: none does, or it is no future. Its context is returned. */
static __always_inline __u64 task_awaits(const struct runtime *runtime, __u64 future)
{
	__u64 context = future ? user_read(future + PYTHON_FUTURE_CONTEXT) : 0, task;

	if (!context)
		return 0;
	task = task_that_waits(runtime, user_read(future + PYTHON_FUTURE_WAITER), context);
	if (!task || user_read(task + runtime->python.task_offset - PYTHON_TASK_WAITS) != future)
		return 0;
	return context;
}

/* The context of the only task that waits for a future which stands behind a variable; or 0. */
static __always_inline __u64 task_thread_waiter(const struct runtime *runtime, __u64 local)
{
	__u64 words[LOCALS_BEHIND], found = 0;

	if (bpf_probe_read_user(words, sizeof(words), (const void *)(local + sizeof(__u64))))
		return 0;
	for (int i = 0; i < LOCALS_BEHIND; i++) {
		__u64 context = task_awaits(runtime, words[i]);

		if (found && context && context != found)
			return 0;
		found = context ? context : found;
	}
	return found;
}

/* The context of the task that the current thread works for; 0: it works for none. */
VERIFIED_ALONE __u64 task_thread_works_for(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct task_thread walk = {};
	__u64 state;

	if (!runtime || !runtime->python.stack_offset)
		return 0;
	state = task_thread_state(runtime);
	walk.context[0] = state ? user_read(state + runtime->python.context_offset) : 0;
	if (!walk.context[0])
		return 0;
	for (int i = 1; i < CONTEXTS_INSIDE && walk.context[i - 1]; i++)
		walk.context[i] = user_read(walk.context[i - 1] + PYTHON_CONTEXT_BEFORE);
	walk.at = task_thread_stack(user_read(state + runtime->python.stack_offset));
	if (walk.at)
		bpf_loop(STACK_LOOKED_AT, task_thread_look, &walk, 0);
	return walk.local ? task_thread_waiter(runtime, walk.local) : 0;
}

/* The request that the current thread works on for a task. */
static __always_inline struct named task_thread_request(const struct runtime *runtime, __u32 tgid)
{
	struct worker_key waiter = {.tgid = tgid, .context = task_thread_works_for(tgid)};

	return waiter.context ? task_calls(runtime, &waiter) : (struct named){};
}

#endif
