/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A request that is read in the midst of a step of a task, or while a greenlet is at work, is shown
 * from then on: the probes that tell when that ends (show.bpf.c) are there if RUNTIME_SHOWN is set.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_SHOW_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_SHOW_BPF_H

#include "engine/account.h"
#include "runtimes/python/greenlet.bpf.h"

/* Is a task at work? One that waits is not, whoever uses its context. */
static __always_inline int task_runs(const struct runtime *runtime, const struct task *task)
{
	return task && !user_read(task->address + runtime->python.task_offset - PYTHON_TASK_WAITS);
}

/* The request that the current context, or greenlet, has read and is at; 0: none. */
static __always_inline __u64 python_step_reads(const struct runtime *runtime, __u32 tgid)
{
	struct worker_key key = {.tgid = tgid, .context = task_current(runtime)};
	const struct task *task;

	if (!key.context) {
		key.context = greenlet_current(runtime, tgid);
		return key.context ? goroutine_reads(&key) : 0;
	}
	task = task_lookup(runtime, &key);
	return task_runs(runtime, task) ? task_reads(&key, task) : 0;
}

/* Something was read. */
static __always_inline void python_read_shown(const struct runtime *runtime,
					      const struct worker_key *thread)
{
	struct traces_ctx shown;
	struct request *r;
	__u64 id;

	if (!(runtime->flags & RUNTIME_SHOWN) || !(runtime->flags & RUNTIME_TASKS))
		return;
	id = python_step_reads(runtime, thread->tgid);
	r = request_lookup(id);
	if (!r)
		return;
	shown = *request_shown(r, id);
	thread_begins_step(thread, r, id, &shown);
}

#endif
