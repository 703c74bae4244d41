/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Threads and processes that others make or wake, what they inherit, and their end. Whoever
 * includes this has declared the store.
 */
#ifndef CTXPROP_ENGINE_INHERIT_H
#define CTXPROP_ENGINE_INHERIT_H

#include "engine/account.h"
#include "engine/learn.h"
#include "runtimes/traits.h"

/* The request that a thread was made for, or has taken something out of a queue for; 0: none. */
static __always_inline __u64 inherited_request(const struct worker *w)
{
	if (w->queue && w->inherited_by == EVIDENCE_TASK)
		return w->inherited;
	return w->maker ? 0 : w->made_for;
}

/*
 * A worker that works for another one's request has called, and wakes the one that has the request:
 * what that waited for is done, mostly. (Before it has called it may say that it is there.) If it
 * wakes one that has another request, it may have called for that.
 */
static __always_inline void inherit_tells(struct worker *w, const struct worker *woken)
{
	__u64 request = inherited_request(w), other = worker_only(woken);

	if (!request || !other)
		return;
	if (w->flags & WORKER_CALLED)
		w->flags |= request == other ? WORKER_DONE : WORKER_TOLD;
	else if (request == other)
		w->flags |= WORKER_SAID;
}

/* A worker calls that has a request, or works for one, whatever is made of that call. */
static __always_inline void request_calls(const struct actor *a, const struct worker *w)
{
	__u64 own = a->kind == ACTOR_RUNTIME ? a->named : w ? worker_only(w) : 0;
	struct request *r;

	if (!own && w)
		own = inherited_request(w);
	r = request_lookup(own);
	if (r && !(r->flags & REQUEST_CALLED))
		__sync_fetch_and_or(&r->flags, REQUEST_CALLED);
}

/*
 * A worker is done with what it was made for, or has taken out of a queue. If it has not told the
 * one that has the request, but another one, then it has called for that one's, it seems.
 */
static __always_inline void learn_told(const struct worker *w, struct process *p)
{
	if (p && (w->flags & (WORKER_TOLD | WORKER_DONE)) == WORKER_TOLD)
		process_breaks_own(p);
}

/* The request whose thread `w` is, or that it works for, if it has called, and waits for nothing.
 */
static __always_inline __u64 worker_has_called(const struct worker *w)
{
	__u64 own = worker_only(w);

	if (own)
		return request_standing(own) == STANDING_ANSWERED ? own : 0;
	return w->flags & WORKER_CALLED ? inherited_request(w) : 0;
}

/*
 * A worker has got an answer, and wakes one that has another request, which has not called yet. It
 * may have room for that one, or have called for it: some do all that waits in a list, whoever has
 * put it there. What the other one does next tells (learn_served()).
 */
static __always_inline void worker_may_serve(const struct worker *w, const struct worker *woken)
{
	__u64 id = worker_has_called(w), other = worker_only(woken);

	if (id && id != other)
		request_may_be_served(other);
}

/* An made, of process `tgid`, is made by a worker of process `maker`. */
static __always_inline void inherit_is_made(struct worker *made, __u32 maker, __u32 tgid)
{
	const struct process *p = maker == tgid ? NULL : process_lookup(&maker);

	made->maker = maker == tgid ? 0 : maker;
	made->maker_number = p ? p->number : 0;
}

/*
 * A worker makes another (EVIDENCE_FORK), or wakes it from a sleep that nothing else would have
 * ended (EVIDENCE_WAKE). A worker that has requests of its own needs no others'. ACTOR_RUNTIME:
 * what it works on is named.
 */
static __always_inline void engine_hand_over(const struct actor *from, const struct worker_key *to,
					     enum evidence by)
{
	struct worker *w = worker_lookup(&from->key), *made;
	__u64 id = from->kind == ACTOR_RUNTIME ? from->named : w ? worker_at(w) : 0;

	if (by == EVIDENCE_WAKE && runtime_wakes_for_lock(from->runtime) && !from->tells)
		return;
	made = id ? worker_make_for(to, from->key.tgid) : worker_lookup(to);
	if (made && by == EVIDENCE_FORK) {
		made->made_for = id;
		inherit_is_made(made, from->key.tgid, to->tgid);
	}
	if (w && made && by == EVIDENCE_WAKE) {
		inherit_tells(w, made);
		worker_may_serve(w, made);
	}
	if (!made || tally_open(&made->tally))
		return;
	if (by == EVIDENCE_WAKE && made->queue)
		return; /* what it took from there says more */
	made->inherited = id;
	made->inherited_by = by;
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
			process_keeps(p, HABIT_CHILDREN_END);
		else
			process_keeps(p, HABIT_THREADS_END);
	}
	learn_told(w, p);
	worker_unpublish(w, key);
	worker_delete(key);
}

/*
 * The worker `old` runs another program from now on, as `now` (the same one, unless a thread
 * other than the first did it). What it was made for stays; what the old program had read is over.
 */
static __always_inline void engine_exec(const struct worker_key *old, const struct worker_key *now)
{
	struct worker *was = worker_lookup(old), *w;
	__u64 inherited = was ? was->inherited : 0,
	      made_for = was && was->maker ? was->made_for : 0;
	__u32 maker = was ? was->maker : 0, maker_number = was ? was->maker_number : 0;
	__u8 by = was ? was->inherited_by : 0;

	if (was)
		was->made_for = 0; /* it has not ended */
	engine_exit(old);
	engine_exit(now);
	w = inherited ? worker_make_for(now, maker ? maker : now->tgid) : NULL;
	if (!w)
		return;
	w->inherited = inherited;
	w->inherited_by = by;
	w->made_for = made_for;
	w->maker = maker;
	w->maker_number = maker_number;
}

#endif
