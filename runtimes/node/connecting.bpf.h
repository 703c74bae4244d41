/* SPDX-License-Identifier: GPL-2.0-only */
/* Node: who is about to connect, or to have something done, and what its loop does now. */
#ifndef CTXPROP_RUNTIMES_NODE_CONNECTING_BPF_H
#define CTXPROP_RUNTIMES_NODE_CONNECTING_BPF_H

#include "probes/thread.bpf.h"
#include "runtimes/node/later.bpf.h"
#include "runtimes/node/phase.bpf.h"
#include "runtimes/node/work.bpf.h"

static __always_inline enum evidence node_evidence(const struct actor *a)
{
	return EVIDENCE_OBJECT;
}

/* What does the loop at hand do now? */
static __always_inline void node_phase(struct actor *a, struct runtime *runtime)
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

/* As worker_connecting(), in a program of Node that takes requests. */
static __always_inline void node_connecting(struct actor *a)
{
	struct runtime *runtime = actor_begins(a);

	if (!runtime) {
		a->kind = ACTOR_UNKNOWN; /* it has become another program just now */
		return;
	}
	a->runtime = RUNTIME_NODE;
	a->by = node_evidence(a);
	node_phase(a, runtime);
	node_goes_on(a);
	if (actor_made_for(a))
		a->doubtful = GIVEN_OWN;
}

#endif
