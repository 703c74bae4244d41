/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of the engine as functions that the verifier walks one by one.
 */
#ifndef CTXPROP_PROBES_STEP_BPF_H
#define CTXPROP_PROBES_STEP_BPF_H

#include "compat.bpf.h"
#include "context/maps.bpf.h"
#include "probes/actor.bpf.h"
#include "context/engine.h"
#include "probes/goroutine_show.bpf.h"
#include "probes/native.bpf.h"

/* The request is read, whose first byte has just been. */
VERIFIED_ALONE int step_take(__u64 id, const struct actor *by)
{
	struct worker *w;

	if (!by)
		return 0;
	w = engine_take(id, by, bpf_ktime_get_ns());
	if (w && by->kind == ACTOR_THREAD)
		worker_has_read(w, by, id, EVIDENCE_LOOP);
	return 0;
}

static __always_inline void step_java_reads(const struct runtime *runtime, const struct actor *by,
					    __u64 id)
{
	java_reads(runtime, by->key.tgid);
	if (by->kind != ACTOR_THREAD ||
	    (by->loop == ACTOR_BLOCKS && !runtime->java.client.exchange_class))
		return;
	java_held_make(by->key.tgid);
	java_holds(by->key.tgid, id);
}

static __always_inline void step_python_reads(const struct runtime *runtime, const struct actor *by,
					      __u64 id)
{
	python_reads(by->key.tgid, id, by->kind == ACTOR_THREAD && by->loop == ACTOR_BLOCKS);
	if (runtime->flags & RUNTIME_TRANSPORTS)
		python_reads_socket(by->key.tgid, id, by->path);
}

static __always_inline void step_native_reads(struct runtime *runtime, const struct actor *by,
					      __u64 id)
{
	struct process_address socket = {.tgid = by->key.tgid, .address = by->path};

	native_reads(runtime, &socket, id);
}

/* The same for what Ruby has read it from, and for which thread of Java. */
VERIFIED_ALONE int step_object(__u64 id, const struct actor *by)
{
	struct runtime *runtime = by ? runtime_lookup(by->key.tgid) : NULL;

	if (runtime_holds_objects(runtime))
		ruby_reads(by->key.tgid, ruby_context(runtime), id);
	else if (runtime && runtime->kind == RUNTIME_JAVA)
		step_java_reads(runtime, by, id);
	else if (runtime && runtime->kind == RUNTIME_PYTHON)
		step_python_reads(runtime, by, id);
	else if (runtime && (runtime->kind == RUNTIME_NODE || runtime->kind == RUNTIME_WANTED))
		object_is_read(by->key.tgid, by->path, id, 0);
	if (runtime && (runtime->kind == RUNTIME_THREADS || runtime->kind == RUNTIME_WANTED))
		step_native_reads(runtime, by, id);
	return 0;
}

/*
 * A goroutine has read from a connection that it serves: its thread shows what it works on. (Of
 * what net/http's watcher of the connection reads, the goroutine that it serves reads the rest.)
 */
VERIFIED_ALONE int step_show(void)
{
	goroutine_show_current();
	return 0;
}

/* A thread is about to run, of the process of the current one: was it made right now? */
VERIFIED_ALONE int step_ruby_makes(__u32 tgid, __u64 thread)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	if (runtime_holds_objects(runtime))
		ruby_makes(runtime, tgid, thread);
	return 0;
}

/* The current thread of Python makes another one. It may serve what somebody else has read. */
VERIFIED_ALONE int step_python_makes(struct actor *by)
{
	struct worker_key thread;

	if (!by)
		return 0;
	thread = by->key;
	if (runtime_thread_serves(&thread) || runtime_thread_is_known(&thread))
		return 0;
	by->named = python_serves(thread.tgid);
	if (by->named)
		by->kind = ACTOR_RUNTIME;
	return 0;
}

/* The current one wakes one that waits. Does it tell it something? */
VERIFIED_ALONE int step_ruby_wakes(__u32 tgid, __u64 thread)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	return runtime_holds_objects(runtime) && ruby_wakes(runtime, tgid, thread);
}

VERIFIED_ALONE int step_older(struct socket *s, const struct actor *by)
{
	if (!s || !by)
		return 0;
	engine_older(s, by);
	return 0;
}

/* A response begins. (The address would be a pointer as an argument of its own.) */
struct responding {
	__u64 request;
	__u64 socket; /* its address */
};

/* It does on a socket whose requests are followed by tasks, streams or objects. */
VERIFIED_ALONE int step_responds(const struct responding *now)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct runtime *runtime = runtime_lookup(tgid);
	__u64 request = now ? now->request : 0, socket = now ? now->socket : 0;

	if (runtime && runtime->kind == RUNTIME_HAPROXY)
		stream_responds(runtime, tgid, request);
	else if (runtime && runtime->kind == RUNTIME_PYTHON)
		runtime_task_responds(runtime, tgid, request, socket);
	else if (runtime_holds_objects(runtime))
		ruby_is_done(runtime, tgid, request);
	return 0;
}

/* Another thread does than the one that reads, and waits for what comes. */
VERIFIED_ALONE int step_respond_for(const struct socket *s)
{
	if (s)
		engine_respond_for(s, &s->record.writer);
	return 0;
}

/* The answer is read to a call whose request an object has told. */
VERIFIED_ALONE int step_learn(__u64 request)
{
	java_learns(bpf_get_current_pid_tgid() >> 32, request);
	return 0;
}

/* The same, and another thread has sent the call. */
VERIFIED_ALONE int step_learn_client(__u64 request)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct runtime *runtime = runtime_lookup(tgid);

	if (runtime && runtime->kind == RUNTIME_JAVA)
		java_client_learns(tgid, request);
	return 0;
}

VERIFIED_ALONE int step_answer(struct socket *s, const struct actor *by, struct worker *w)
{
	if (!s || !by)
		return 0;
	engine_answer(s, by, w);
	return 0;
}

VERIFIED_ALONE int step_answer_shared(struct socket *s, const struct actor *by, struct worker *w)
{
	if (!s || !by)
		return 0;
	engine_answer_shared(s, by, w);
	return 0;
}

/* More bytes are sent by the current thread, behind a call that is not answered yet. */
VERIFIED_ALONE int step_send_more(struct socket *s)
{
	__u64 now = bpf_get_current_pid_tgid();
	struct worker_key thread = {.tgid = now >> 32, .tid = (__u32)now};

	if (s)
		engine_send_more(s, worker_lookup(&thread));
	return 0;
}

VERIFIED_ALONE int step_connect(struct socket *s, const struct actor *by)
{
	if (!s || !by)
		return 0;
	engine_connect(s, by, NULL);
	return 0;
}

/* A program begins to open a connection, before it has a socket. */
VERIFIED_ALONE int step_open(struct purpose *purpose, const struct actor *by)
{
	if (!purpose || !by)
		return 0;
	engine_open(purpose, by);
	return 0;
}

VERIFIED_ALONE int step_call(struct socket *s, const struct actor *by, __u32 seq, __u32 port)
{
	if (!s || !by)
		return 0;
	engine_call(s, by, seq, port);
	return 0;
}

/* After step_call(). `peer`: as engine_crowd() has it. */
VERIFIED_ALONE int step_crowd(struct socket *s, const struct actor *by, __u32 peer)
{
	if (!s || !by)
		return 0;
	engine_crowd(s, by, peer);
	return 0;
}

/* The same, of a call of which objects of a program have told something. */
VERIFIED_ALONE int step_objects_decided(struct socket *s, __u32 tgid)
{
	struct runtime *runtime = runtime_lookup(tgid);
	const struct call *c = s ? socket_last_call(s) : NULL;

	if (runtime && c)
		objects_decided(&runtime->threads.objects, s, c);
	return 0;
}

VERIFIED_ALONE int step_close(struct socket *s)
{
	if (s)
		engine_close(s);
	return 0;
}

VERIFIED_ALONE int step_hand_over(const struct actor *by, const struct worker_key *heir, __u32 why)
{
	struct worker_key to;
	struct actor from;

	if (!by || !heir)
		return 0;
	from = *by;
	to = *heir;
	engine_hand_over(&from, &to, why);
	return 0;
}

#endif
