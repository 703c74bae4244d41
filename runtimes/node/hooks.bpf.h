/* SPDX-License-Identifier: GPL-2.0-only */
/* Node: what its loop does now, and whose call it begins. */
#ifndef CTXPROP_RUNTIMES_NODE_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_NODE_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "probes/object.bpf.h"
#include "runtimes/node/later.bpf.h"
#include "runtimes/node/phase.bpf.h"
#include "runtimes/node/search.bpf.h"
#include "runtimes/node/work.bpf.h"

/* The request is read. */
static __always_inline void node_request_read(const struct runtime *runtime, const struct actor *by,
					      __u64 id)
{
	object_is_read(by->key.tgid, by->path, id, 0);
}

/* What does the loop at hand do now? */
static __always_inline void node_finds_phase(struct actor *a, struct runtime *runtime)
{
	enum actor_phase phase = phase_of(runtime);

	a->accepts = phase == PHASE_ACCEPTS;
	if (!ENGINE_LEARNS) {
		a->phase = phase == PHASE_ACCEPTS ? PHASE_APART : phase;
		return;
	}
	a->phase =
	    phase == PHASE_LATER || phase == PHASE_ACCEPTS ? later_phase(&a->key, phase) : phase;
}

/* For which request does it go on with what another thread has done? */
static __always_inline void node_goes_on(struct actor *a)
{
	const struct work *work = a->phase == PHASE_WORK ? work_of_thread() : NULL;

	if (work)
		a->named = work->request;
}

/*
 * Does the object of the call tell whose it is? Then nothing else counts. Where that was so
 * before, a call for which nobody waits may be the program's own.
 */
static __always_inline void node_is_called(struct actor *a, struct runtime *runtime, __u64 socket)
{
	struct process_address at = {.tgid = a->key.tgid, .address = socket};
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

#endif
