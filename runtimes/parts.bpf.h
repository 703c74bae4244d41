/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Workers that are no threads, for those who ask about one while it may not run: what it is, and
 * what it works on.
 */
#ifndef CTXPROP_RUNTIMES_PARTS_BPF_H
#define CTXPROP_RUNTIMES_PARTS_BPF_H

#include "runtimes/hooks.bpf.h"
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

static __always_inline enum who_what part_of_python(const struct runtime *runtime,
						    const struct worker_key *key)
{
	if (task_lookup(runtime, key))
		return WHO_TASK;
	return part_is_greenlet(runtime, key->context) ? WHO_GREENLET : WHO_CONTEXT;
}

/* What is it that this key names? */
VERIFIED_ALONE int part_what(const struct worker_key *named)
{
	struct worker_key key = named ? *named : (struct worker_key){};
	const struct runtime *runtime = runtime_lookup(key.tgid);

	if (!key.context || !runtime)
		return WHO_THREAD;
	if (runtime->kind == RUNTIME_PYTHON)
		return part_of_python(runtime, &key);
	if (runtime->kind == RUNTIME_HAPROXY)
		return WHO_STREAM;
	return runtime->kind == RUNTIME_JAVA ? WHO_VIRTUAL : WHO_GOROUTINE;
}

/* A task of Python, if it waits for something: else it runs, and its thread tells, or is over. */
static __always_inline struct named task_waits_on(const struct runtime *runtime,
						  const struct worker_key *key)
{
	const struct task *task = task_lookup(runtime, key);

	if (!task || !user_read(task->address + runtime->python.task_offset - PYTHON_TASK_WAITS))
		return (struct named){};
	return task_calls(runtime, key);
}

/* The same of a stream of HAProxy. */
static __always_inline struct named stream_waits_on(const struct worker_key *key)
{
	const struct stream *stream = stream_lookup(key->tgid, key->context);

	if (!stream || task_denies(key->tgid, TASK_RULE_STREAM))
		return (struct named){};
	return (struct named){.request = stream->request};
}

/*
 * What is known of one that has a request of its own, or has taken one over, whether it runs or
 * not. What others were started for they may be done with, which nobody sees.
 */
static __always_inline struct named part_works_on(const struct runtime *runtime,
						  const struct worker_key *key)
{
	if (runtime_has_tasks(runtime) && !part_is_greenlet(runtime, key->context))
		return task_waits_on(runtime, key);
	if (runtime_has_streams(runtime))
		return stream_waits_on(key);
	return (struct named){.request = goroutine_reads(key)};
}

#endif
