/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Node: what a connection is opened for is decided where the program asks for it, which is where
 * libuv's handle is made: the address of a name is looked up by other threads then, and when the
 * connect begins the loop may be at anything.
 */
#ifndef CTXPROP_RUNTIMES_NODE_OPENING_BPF_H
#define CTXPROP_RUNTIMES_NODE_OPENING_BPF_H

#include "engine/maps.bpf.h"
#include "runtimes/node/maps.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "probes/turn.bpf.h"
#include "engine/engine.h"

/* Where what is known of a handle stands. */
static __always_inline struct process_address opening_at(const struct worker_key *thread,
							 __u64 handle)
{
	return (struct process_address){.tgid = thread->tgid, .address = handle};
}

/* The thread, if it is one of Node that takes requests. */
static __always_inline struct worker *opening_thread(const struct worker_key *thread)
{
	const struct runtime *runtime = runtime_lookup(thread->tgid);

	if (!runtime || runtime->kind != RUNTIME_NODE)
		return NULL;
	return worker_lookup(thread);
}

/* The current thread, and its entry if it is such a one. */
static __always_inline struct worker *opening_current(struct worker_key *ret_thread)
{
	__u64 now = bpf_get_current_pid_tgid();

	*ret_thread = (struct worker_key){.tgid = now >> 32, .tid = (__u32)now};
	return opening_thread(ret_thread);
}

/* Nothing will come of the handle: it is closed, or its memory is used for another one. */
static __always_inline void opening_over(const struct process_address *at)
{
	struct purpose *purpose = purposes_lookup(at);

	if (!purpose)
		return;
	engine_opened(purpose);
	call_limit_opened(purpose);
	purposes_delete(at);
}

#endif
