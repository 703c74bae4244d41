/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Threads and processes that others make or wake, what they inherit, and their end. Whoever
 * includes this has declared the store.
 */
#ifndef CTXPROP_CONTEXT_HEIRS_H
#define CTXPROP_CONTEXT_HEIRS_H

#include "context/account.h"
#include "context/learn.h"

/*
 * A worker makes another (EVIDENCE_FORK), or wakes it from a sleep that nothing else would have
 * ended (EVIDENCE_WAKE). A worker that has requests of its own needs no others'. ACTOR_RUNTIME:
 * what it works on is named.
 */
static __always_inline void engine_hand_over(const struct actor *from, const struct worker_key *to,
					     enum evidence by)
{
	struct worker *w = worker_lookup(&from->key), *heir;
	__u64 id = from->kind == ACTOR_RUNTIME ? from->named : w ? worker_at(w) : 0;

	heir = id ? worker_make(to) : worker_lookup(to);
	if (heir && by == EVIDENCE_FORK) {
		heir->made_for = id;
		heir->maker = to->tgid == from->key.tgid ? 0 : from->key.tgid;
	}
	if (!heir || tally_open(&heir->tally))
		return;
	if (by == EVIDENCE_WAKE && heir->queue)
		return; /* what it took from there says more */
	heir->inherited = id;
	heir->inherited_by = by;
}

/* A thread is over. Requests that it took up may be in the hands of others. */
static __always_inline void engine_exit(const struct worker_key *key)
{
	struct process *p = process_lookup(&key->tgid);
	struct worker *w = worker_lookup(key);

	if (!w)
		return;
	p = process_maker(w, p);
	if (p && request_standing(w->made_for) != STANDING_NONE) {
		if (w->maker)
			p->children_ended++;
		else
			p->threads_ended++;
	}
	worker_unpublish(w, key);
	worker_delete(key);
}

/*
 * The worker `old` runs another program from now on, as `now` (the same one, unless a thread
 * besides the first did it). What it was made for stays; what the old program had read is over.
 */
static __always_inline void engine_exec(const struct worker_key *old, const struct worker_key *now)
{
	struct worker *was = worker_lookup(old), *w;
	__u64 inherited = was ? was->inherited : 0,
	      made_for = was && was->maker ? was->made_for : 0;
	__u32 maker = was ? was->maker : 0;
	__u8 by = was ? was->inherited_by : 0;

	if (was)
		was->made_for = 0; /* it has not ended */
	engine_exit(old);
	engine_exit(now);
	w = inherited ? worker_make(now) : NULL;
	if (!w)
		return;
	w->inherited = inherited;
	w->inherited_by = by;
	w->made_for = made_for;
	w->maker = maker;
}

#endif
