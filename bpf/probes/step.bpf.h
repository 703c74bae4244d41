/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of the engine as functions that the verifier walks one by one.
 */
#ifndef CTXPROP_PROBES_STEP_BPF_H
#define CTXPROP_PROBES_STEP_BPF_H

#include "compat.bpf.h"
#include "engine/maps.bpf.h"
#include "probes/actor.bpf.h"
#include "engine/engine.h"

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

/* The same for what tells more of it in the program: objects, threads. */
VERIFIED_ALONE int step_object(__u64 id, const struct actor *by)
{
	struct runtime *runtime = by ? runtime_lookup(by->key.tgid) : NULL;

	if (runtime)
		hook_request_read(runtime, by, id);
	return 0;
}

/* Something was read by another worker than a thread. */
VERIFIED_ALONE int step_show(void)
{
	__u64 now = bpf_get_current_pid_tgid();
	struct worker_key thread = {.tgid = now >> 32, .tid = (__u32)now};
	const struct runtime *runtime = runtime_lookup(thread.tgid);

	if (runtime)
		hook_read_shown(runtime, &thread);
	return 0;
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

	if (runtime)
		hook_response_begins(runtime, tgid, request, socket);
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
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct runtime *runtime = runtime_lookup(tgid);

	if (runtime)
		hook_answer_begins(runtime, tgid, request);
	return 0;
}

/* The same, and another thread has sent the call. */
VERIFIED_ALONE int step_learn_client(__u64 request)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	const struct runtime *runtime = runtime_lookup(tgid);

	if (runtime)
		hook_others_answer_begins(runtime, tgid, request);
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

VERIFIED_ALONE int step_call(struct socket *s, const struct actor *by, __u32 seq, __u32 port)
{
	if (!s || !by)
		return 0;
	engine_call(s, by, seq, port);
	return 0;
}

/* After step_call(). `peer`: as engine_call_limit() has it. */
VERIFIED_ALONE int step_call_limit(struct socket *s, const struct actor *by, __u32 peer)
{
	if (!s || !by)
		return 0;
	engine_call_limit(s, by, peer);
	return 0;
}

VERIFIED_ALONE int step_close(struct socket *s)
{
	if (s)
		engine_close(s);
	return 0;
}

VERIFIED_ALONE int step_hand_over(const struct actor *by, const struct worker_key *made, __u32 why)
{
	struct worker_key to;
	struct actor from;

	if (!by || !made)
		return 0;
	from = *by;
	to = *made;
	engine_hand_over(&from, &to, why);
	return 0;
}

#endif
