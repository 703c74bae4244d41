/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Where requests stand, and which of them a worker can be at.
 *
 * Whoever includes this has declared the store: {request,worker,process}_lookup() and the like
 * (maps.bpf.h, or the fake of the simulation).
 */
#ifndef CTXPROP_CONTEXT_STANDING_H
#define CTXPROP_CONTEXT_STANDING_H

#include "context/worker.h"

static __always_inline enum standing request_standing(__u64 id)
{
	const struct request *r = request_lookup(id);

	return r ? standing_of(r->state) : STANDING_NONE;
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

/* The only request that a blocking worker can be at; 0: it has none, or several. */
static __always_inline __u64 worker_only(const struct worker *w)
{
	__u32 active = tally_active(&w->tally);

	if (active > 1)
		return 0;
	if (active)
		return worker_held(w, 0);
	return tally_of(&w->tally, STANDING_RESPONDING) == 1 ? worker_held(w, 1) : 0;
}

#endif
