/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Connections that carry what several requests of an event loop ask for at once: those of clients
 * of Redis, for one, where each command is sent as soon as it is wanted, and answers come in the
 * same order. (HTTP knows this as pipelining.)
 *
 * How many answers have come nobody sees. So what is read from such a connection is anybody's who
 * has sent something since it was read last, or before. It is believed to be the only one's that
 * has, if no other request of the process could wait for an answer: those that are idle could.
 *
 * Where the protocol is known (SOCKET_ASKS) whoever sends something waits then. Else bytes that
 * follow upon a call may be the rest of it, and whoever sends them is idle, for all that is known.
 *
 * Whoever includes this has declared the store (see standing.h) and turn_goes_on().
 */
#ifndef CTXPROP_ENGINE_SHARED_H
#define CTXPROP_ENGINE_SHARED_H

#include "engine/call_limit.h"
#include "engine/decide.h"

/*
 * May bytes that worker `w` (NULL: it has no requests) sends, while the answer to call `c` is
 * awaited, belong to something else? Those of a loop may if it has read something since, another
 * request's, or not known whose; but for those of HTTP the packet programs look themselves.
 */
static __always_inline int call_is_overtaken(const struct call *c, const struct worker *w)
{
	if (!c->request || c->is_http || !w || !worker_is_loop(w) || tally_open(&w->tally) < 2)
		return 0;
	if (c->reads == (__u8)w->reads)
		return 0;
	return w->read != c->request || (w->flags & WORKER_UNSURE) || !turn_goes_on(&w->turn);
}

/*
 * A request has sent something, and what comes back will not tell for whom: it is idle from now on,
 * whatever it did before, as all those are that unattributed calls may be of.
 */
static __always_inline void request_idles(__u64 id)
{
	struct request *r = request_lookup(id);
	__u32 before;

	if (!r || !(r->state & STATE_ANSWERED))
		return;
	before = __sync_fetch_and_and(&r->state, ~STATE_ANSWERED);
	request_moved(r, before, before & ~STATE_ANSWERED);
}

/* The answer to a call has come, or not: its request may go on, or wait. */
static __always_inline void shared_forget(struct call *c)
{
	struct worker_key caller = {.tgid = c->tgid, .tid = c->tid};

	if (c->request) {
		request_idles(c->request);
		request_sub(c->request, STATE_CALL);
	}
	if (c->counted)
		unattributed_add(&caller, -1);
	c->outstanding = c->counted = 0;
}

/*
 * Could no other request of the process than one that waits for a call wait for something on this
 * connection? Others that are open do, if they are idle; save those whose calls are unattributed,
 * where it is known that they make one at a time.
 */
static __always_inline int shared_is_alone(const struct socket *s, const struct process *p)
{
	const struct tally *t = p ? &p->tally : NULL;
	__u32 known;

	if (!t || tally_open(t) < 2)
		return t != NULL;
	if (process_has_broken(p, HABIT_SERIAL) || (s->flags & SOCKET_DROPS))
		return 0;
	known = process_has_habit(p, HABIT_SERIAL) ? t->unattributed : 0;
	return tally_of(t, STANDING_IDLE) + tally_of(t, STANDING_ANSWERED) <= known;
}

/*
 * Something is read from the connection. Returns the request that it is for; 0: it is not known
 * for which. Nobody is believed any more once a request has ended that did not wait for its answer.
 */
static __always_inline __u64 shared_answer(struct socket *s, const struct process *p)
{
	int sure = shared_is_alone(s, p);
	__u64 id = 0;

	for (__u32 i = 0; i < SOCKET_CALLS; i++) {
		struct call *c = &s->call[i];
		__u64 waits = c->evidence ? c->request : 0;

		if (!c->outstanding)
			continue;
		if (c->request && request_standing(c->request) == STANDING_NONE)
			s->flags |= SOCKET_DROPS;
		if (!waits || (id && id != waits))
			sure = 0;
		id = waits;
		shared_forget(c);
	}
	return sure ? id : 0;
}

#endif
