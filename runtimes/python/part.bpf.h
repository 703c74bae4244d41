/* SPDX-License-Identifier: GPL-2.0-only */
/* Python's workers that are no threads, for those who ask while one may not run. */
#ifndef CTXPROP_RUNTIMES_PYTHON_PART_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_PART_BPF_H

#include "runtimes/python/worker.bpf.h"
#include "who/who.h"

/* How the name of the type of contexts begins, as text: "Context", in a module later on. */
#define CONTEXT_NAME   0x00747865746e6f43ULL /* "Context", with its NUL */
#define CONTEXT_MODULE 0x747865746e6f635fULL /* "_context" */

/* Is an object of Python, which has been at work, a greenlet? Else it is a context. */
static __always_inline int part_is_greenlet(const struct runtime *runtime, __u64 object)
{
	__u64 name;

	if (!runtime->python.greenlets)
		return 0;
	name = user_read(user_read(user_read(object + PYTHON_TYPE) + PYTHON_TYPE_NAME));
	return name && name != CONTEXT_NAME && name != CONTEXT_MODULE;
}

static __always_inline enum who_what python_part(const struct runtime *runtime,
						 const struct worker_key *key)
{
	if (task_lookup(runtime, key))
		return WHO_TASK;
	return part_is_greenlet(runtime, key->context) ? WHO_GREENLET : WHO_CONTEXT;
}

/* A task, if it waits for something: else it runs, and its thread tells, or is over. */
static __always_inline struct named task_waits_on(const struct runtime *runtime,
						  const struct worker_key *key)
{
	const struct task *task = task_lookup(runtime, key);

	if (!task || !user_read(task->address + runtime->python.task_offset - PYTHON_TASK_WAITS))
		return (struct named){};
	return task_calls(runtime, key);
}

static __always_inline struct named python_part_works_on(const struct runtime *runtime,
							 const struct worker_key *key)
{
	if (runtime_has_tasks(runtime) && !part_is_greenlet(runtime, key->context))
		return task_waits_on(runtime, key);
	return (struct named){.request = goroutine_reads(key)};
}

#endif
