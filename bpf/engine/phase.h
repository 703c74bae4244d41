/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
#ifndef CTXPROP_ENGINE_PHASE_H
#define CTXPROP_ENGINE_PHASE_H

/* What a loop does now, where that can be told. */
enum actor_phase {
	PHASE_UNTOLD,  /* it cannot */
	PHASE_READING, /* what was read last leads to it */
	PHASE_ASKED,   /* what was read before, in this turn, where the worker is again (later.h) */
	PHASE_LATER,   /* something leads to it that was left for later in this turn */
	PHASE_WORK,    /* what another thread was given to do, and has done (work.h) */
	PHASE_APART,   /* something else does: a timer, the work of another thread */
	PHASE_ACCEPTS, /* a connection that has come; to be told as PHASE_APART (later.bpf.h) */
};

#endif
