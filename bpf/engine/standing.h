/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Where requests stand, and which of them a worker can be at.
 *
 * Whoever includes this has declared the store: {request,worker,process}_lookup() and the like
 * (maps.bpf.h, or the fake of the simulation).
 */
#ifndef CTXPROP_ENGINE_STANDING_H
#define CTXPROP_ENGINE_STANDING_H

#include "engine/alone.h"
#include "engine/habits.h"
#include "engine/traces.h"
#include "engine/worker.h"

static __always_inline enum standing request_standing(__u64 id)
{
	const struct request *r = request_lookup(id);

	return r ? standing_of(r->state) : STANDING_NONE;
}

/* Request `r`, which had this id, has ended on another CPU; its place may be another one's now. */
static __always_inline int request_is_over(const struct request *r, __u64 id)
{
	return *(const volatile __u64 *)&r->id != id ||
	       (*(const volatile __u32 *)&r->state & STATE_ENDED);
}

_Static_assert(__builtin_offsetof(struct span_context, trace_id) ==
		       __builtin_offsetof(struct traces_ctx, trace_id) &&
		   __builtin_offsetof(struct span_context, span_id) ==
		       __builtin_offsetof(struct traces_ctx, span_id),
	       "a context begins with what is shown of it");

/*
 * What is shown of request `r`, which has this id. Who copies it looks afterwards whether the
 * request is over.
 */
static __always_inline const struct traces_ctx *request_shown(const struct request *r, __u64 id)
{
	const struct traces_ctx *adopted = NULL;

	if (*(const volatile __u32 *)&r->flags & REQUEST_ADOPTED)
		adopted = adopted_lookup(id);
	return adopted ? adopted : (const struct traces_ctx *)&r->context;
}

/*
 * The context of a request. 0; -1 (and all zero) if it is over, as it may be by the time that it
 * is copied.
 */
static __always_inline int request_copy_context(__u64 id, struct span_context *ret_context)
{
	const struct request *r = request_lookup(id);

	if (r) {
		*ret_context = r->context;
		*(struct traces_ctx *)ret_context = *request_shown(r, id);
	}
	if (r && !request_is_over(r, id))
		return 0;
	__builtin_memset(ret_context, 0, sizeof(*ret_context));
	return -1;
}

/* The newest request that a worker has taken up and that stands as asked for; 0: none. */
static __always_inline __u64 worker_held(const struct worker *w, int responding)
{
	for (__u32 i = 1; i <= WORKER_HELD; i++) {
		__u64 id = w->held[(w->taken - i) & (WORKER_HELD - 1)];
		enum standing standing = request_standing(id);

		if (standing != STANDING_NONE &&
		    (standing == STANDING_RESPONDING) == (responding != 0))
			return id;
	}
	return 0;
}

/*
 * The only request that a blocking worker can be at; 0: it has none, or several. Inlined, for who
 * has no room on the stack for one more call.
 */
static __always_inline __u64 worker_only_inlined(const struct worker *w)
{
	__u32 active = tally_active(&w->tally);

	if (active > 1)
		return 0;
	if (active)
		return worker_held(w, 0);
	return tally_of(&w->tally, STANDING_RESPONDING) == 1 ? worker_held(w, 1) : 0;
}

/* The same, for all others. */
VERIFIED_ALONE __u64 worker_only(const struct worker *w)
{
	return w ? worker_only_inlined(w) : 0;
}

/* Could others than one of this standing begin a call? */
static __always_inline int has_rivals(const struct tally *t, enum standing named, __u32 kinds)
{
	return t && tally_rivals(t, named, kinds) > 0;
}

/* Could it be for another request of the process than the one that is named, or for none? */
static __always_inline int process_has_others(const struct process *p, enum standing named)
{
	return p && (p->tally.unattributed ||
		     has_rivals(&p->tally, named, RIVAL_ANSWERED | RIVAL_CONNECTING));
}

/*
 * The process that has made a worker for a request: `p`, its own, or another one; NULL: that is
 * gone.
 */
static __always_inline struct process *process_maker(const struct worker *w, struct process *p)
{
	if (!w->maker)
		return p;
	p = process_lookup(&w->maker);
	return p && p->number == w->maker_number ? p : NULL;
}

#endif
