/* SPDX-License-Identifier: GPL-2.0-only */
/* Node: what its loop does now, and whose call it begins. */
#ifndef CTXPROP_RUNTIMES_NODE_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_NODE_HOOKS_BPF_H

#include "probes/object.bpf.h"
#include "probes/thread.bpf.h"
#include "runtimes/node/connecting.bpf.h"
#include "runtimes/node/opening.bpf.h"
#include "runtimes/node/search.bpf.h"

static __always_inline int node_objects_tell(const struct actor *a)
{
	return 1;
}

/* Agents of node:http keep calls in lists. */
static __always_inline int node_call_waits_for_turn(const struct actor *a)
{
	return 1;
}

/* The request is read. */
static __always_inline void node_request_read(const struct runtime *runtime, const struct actor *by,
					      __u64 id)
{
	object_is_read(by->key.tgid, by->path, id, 0);
}

/*
 * Does the object of the call tell whose it is? Then nothing else counts. Where that was so
 * before, a call for which nobody waits may be the program's own.
 */
static __always_inline void node_call_begins(struct actor *a, struct runtime *runtime,
					     const struct sock *sk, struct socket *s)
{
	struct process_address at = {.tgid = a->key.tgid, .address = (__u64)sk};
	__u64 request;

	request = node_calls(runtime, &at);
	if (request == NODE_NO_REQUEST_YET && a->phase == PHASE_READING)
		return;
	if (request == NODE_NO_REQUEST || request == NODE_NO_REQUEST_YET) {
		a->own = (runtime->flags & RUNTIME_OBJECTS) != 0;
	} else if (request) {
		if (!(runtime->flags & RUNTIME_OBJECTS))
			__sync_fetch_and_or(&runtime->flags, RUNTIME_OBJECTS);
		a->kind = ACTOR_RUNTIME;
		a->named = request;
	}
}

/* All requests that were read from `s` have been taken up. */
static __always_inline void node_read_ends(const struct actor *a, struct socket *s)
{
	if (later_reads(actor_thread(a)))
		s->flags |= SOCKET_LATER;
}

/*
 * The thread connects socket `s`. Returns whether it was known before what for: the handle that it
 * has for this was seen to be made.
 */
static __always_inline int node_connect_known(const struct worker_key *thread, struct socket *s)
{
	struct worker *w = worker_lookup(thread);
	const struct purpose *purpose;
	struct process_address at;

	if (!w || !w->item)
		return 0;
	at = opening_at(thread, w->item);
	w->item = 0;
	purpose = purposes_lookup(&at);
	if (!purpose)
		return 0;
	engine_connect(s, NULL, purpose);
	purposes_delete(&at);
	return 1;
}

#endif
