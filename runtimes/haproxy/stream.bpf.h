/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of HAProxy. A thread reads what epoll has reported in tasklets of the connections; these
 * make a stream for each request, which is worked on from a queue, in an order of its own. What
 * runs now, the thread's scheduler tells: `current` is set for as long as the function of a task
 * runs. Calls are made by the streams; what other tasks send is HAProxy's own (health checks).
 */
#ifndef CTXPROP_RUNTIMES_HAPROXY_STREAM_BPF_H
#define CTXPROP_RUNTIMES_HAPROXY_STREAM_BPF_H

#include "compat.bpf.h"
#include "runtimes/haproxy/maps.bpf.h"
#include "runtimes/rule.bpf.h"
#include "probes/user.bpf.h"

/* A task or tasklet, as far as its struct is known. */
struct haproxy_task {
	__u64 address; /* 0: none runs, or it cannot be told */
	__u64 process;
	__u64 context;
};

/* What the current thread runs. */
static __always_inline struct haproxy_task haproxy_current(const struct runtime *runtime)
{
	__u64 thread = user_thread_pointer(), scheduler;
	struct haproxy_task task = {};

	if (!thread)
		return task;
	scheduler = user_read(thread + runtime->haproxy.scheduler);
	if (!scheduler)
		return task;
	task.address = user_read(scheduler + HAPROXY_CURRENT);
	if (!task.address)
		return task;
	task.process = user_read(task.address + HAPROXY_PROCESS);
	task.context = user_read(task.address + HAPROXY_CONTEXT);
	return task;
}

/* What is known of a stream; NULL: nothing, it may work for any request. */
static __always_inline const struct stream *stream_lookup(__u32 tgid, __u64 address)
{
	struct worker_key key = {.tgid = tgid, .context = address};

	return streams_lookup(&key);
}

static __always_inline void stream_reader(struct worker_key *ret_thread)
{
	__u64 id = bpf_get_current_pid_tgid();

	*ret_thread = (struct worker_key){.tgid = id >> 32, .tid = (__u32)id};
}

/*
 * The thread has read its last request. The stream that the same task makes next is that one's; if
 * the one before it on its connection is still open, it may be that one's. The worker's `item` is
 * the task, `queue` the stream.
 */
VERIFIED_ALONE int stream_read(__u32 alone)
{
	struct worker_key key;
	const struct runtime *runtime;
	struct worker *w;

	stream_reader(&key);
	runtime = runtime_lookup(key.tgid);
	w = worker_lookup(&key);
	if (!runtime || !w)
		return 0;
	w->item = alone ? haproxy_current(runtime).address : 0;
	w->queue = 0;
	return 0;
}

/*
 * The request that the current thread has read in this task, unless another stream was made for it.
 * (While one daemon takes over from another, each stream is seen twice.)
 */
static __always_inline __u64 stream_takes(struct worker *w, const struct haproxy_task *task,
					  __u64 stream)
{
	if (!w || !w->item || w->item != task->address || (w->queue && w->queue != stream))
		return 0;
	w->queue = stream;
	return w->held[(w->taken - 1) & (WORKER_HELD - 1)];
}

/*
 * A stream begins. If it was not made by who has read a request that was seen, it works for none
 * (it came encrypted, or HAProxy asks of its own accord); but those that are made as soon as a
 * connection is accepted may get one later (mode tcp).
 */
static __always_inline void stream_begins(const struct runtime *runtime, struct worker_key *thread,
					  __u64 address)
{
	struct worker_key key = {.tgid = thread->tgid, .context = address};
	struct haproxy_task task = haproxy_current(runtime);
	struct stream stream = {.request = stream_takes(worker_lookup(thread), &task, address)};

	if (stream.request || (task.process && task.process != runtime->haproxy.accept))
		streams_set(&key, &stream);
	else
		streams_delete(&key);
}

/* A response begins: if a stream sends it, is that the one that was made for its request? */
static __always_inline void haproxy_response_begins(const struct runtime *runtime, __u32 tgid,
						    __u64 request, __u64 socket)
{
	struct haproxy_task task = haproxy_current(runtime);
	const struct stream *stream;

	if (!task.process || task.process != runtime->haproxy.process_stream)
		return;
	stream = stream_lookup(tgid, task.context);
	if (stream && stream->request)
		rule_learn(tgid, TASK_RULE_STREAM, stream->request == request);
}

/* Does the first call on this socket come over a connection that a task has opened for it? */
static __always_inline int stream_opened(const struct socket *s)
{
	return s && !s->calls_end && s->purpose.by.context;
}

/*
 * Who connects (`s`: NULL), or calls on socket `s`? Returns 1, and changes the key to the stream's
 * or task's own, or 0: the rules for threads apply. What stands where HAProxy is thought to have
 * its tasks is one if it has the address of the function of streams, and that of a stream which
 * began.
 */
static __always_inline int stream_calls(const struct runtime *runtime, const struct socket *s,
					struct worker_key *key, struct named *ret_named)
{
	struct haproxy_task task = haproxy_current(runtime);
	const struct stream *stream;

	if (rule_denies(key->tgid, TASK_RULE_STREAM))
		return 0;
	if (task.process && task.process == runtime->haproxy.process_stream) {
		stream = stream_lookup(key->tgid, task.context);
		if (!stream)
			return 0;
		ret_named->request = stream->request;
	} else if (stream_opened(s)) {
		task.context = s->purpose.by.context;
		ret_named->request = s->purpose.request;
		ret_named->own = s->purpose.veto == VETO_OWN_PATH;
	} else if (!task.address || rule_doubts(key->tgid, TASK_RULE_STREAM)) {
		return 0; /* who knows whether that is where tasks stand */
	} else {
		task.context = task.address;
		ret_named->own = 1;
	}
	key->tid = 0;
	key->context = task.context;
	return 1;
}

#endif
