/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Could a call that an event loop makes after an answer be another request's, which has waited for
 * its turn? Programs may limit how many calls, or connections to a peer, there are at once. Who is
 * over the limit waits in a list, nobody sees it, until an answer makes room.
 *
 * Whoever waits does so because there are as many calls as there may be. So nobody waits when there
 * are fewer than there have been once. Counted is what is certain: as long as an answer may go on,
 * its call takes part (it lingers) when it is asked whether there are fewer, but not when it is
 * noted how many there have been. (Nor is it over for certain once all of the answer was read: the
 * program may keep it, and the connection with it, until it has got another one.)
 *
 * Nor does anybody wait who has but one call to make at a time, and makes it. That is learnt: where
 * the next request called at once, there was room, and the one before it did not want more.
 *
 * Whoever includes this has declared the store (see standing.h).
 */
#ifndef CTXPROP_ENGINE_CALL_LIMIT_H
#define CTXPROP_ENGINE_CALL_LIMIT_H

#include "engine/decide.h"
#include "engine/standing.h"

/* struct socket.call_limit: in which count its last call is. */
#define CALL_LIMIT_PEER                                                                            \
	0xffU /* which of the peers with a limit, from 1 on; 0: there is no room for it */
#define CALL_LIMIT_BUSY    (1U << 8)  /* no byte of the answer was read yet */
#define CALL_LIMIT_LINGERS (1U << 9)  /* some was; it counts for its request, until that is over */
#define CALL_LIMIT_STRAYS  (1U << 10) /* the same, not known for which request */
#define CALL_LIMIT_ROUND   16 /* CALL_LIMIT_STRAYS: struct call_limit.round, from this bit on */

/*
 * A number for a peer's address and port, not 0. Peers that are alike (all but one bit of the
 * address, or as much more of one as less of the other) still have different ones.
 */
static __always_inline __u32 call_limit_peer_number(const __u64 address[2], __u16 port)
{
	const __u64 odd = 0x9e3779b97f4a7c15ULL; /* 2^64 by the golden ratio */
	__u64 mixed = address[0] * odd;

	mixed = (mixed ^ mixed >> 32 ^ address[1]) * odd;
	mixed = (mixed ^ mixed >> 32 ^ port) * odd;
	return mixed >> 32 ? mixed >> 32 : 1;
}

static __always_inline struct call_limit_peer *call_limit_peer(struct call_limit *k, __u32 at)
{
	return at && at <= CALL_LIMIT_PEERS ? &k->peer[(at - 1) & (CALL_LIMIT_PEERS - 1)] : NULL;
}

/* Which of the peers with a limit it is, a new one if there is room; 0: there is none. */
static __always_inline __u32 call_limit_find(struct call_limit *k, __u32 peer)
{
	for (__u32 i = 0; i < CALL_LIMIT_PEERS; i++) {
		if (!k->peer[i].peer)
			k->peer[i].peer = peer;
		if (k->peer[i].peer == peer)
			return i + 1;
	}
	return 0;
}

/* So many calls linger no more. Answers that were read in this turn may have been theirs. */
static __always_inline void call_limit_goes(struct call_limit *k, __u32 count)
{
	__sync_fetch_and_add(&k->gone, count);
}

/* The last call of a socket counts no more. `id`: the request that it was attributed to; or 0. */
static __always_inline void call_limit_leave(struct call_limit *k, struct socket *s, __u64 id)
{
	__u32 was = __sync_lock_test_and_set(&s->call_limit, 0);
	struct call_limit_peer *peer = call_limit_peer(k, was & CALL_LIMIT_PEER);
	struct request *r;

	if (was & (CALL_LIMIT_LINGERS | CALL_LIMIT_STRAYS))
		call_limit_goes(k, 1);
	if (was & CALL_LIMIT_BUSY) {
		__sync_fetch_and_sub(&k->busy, 1);
		if (peer)
			__sync_fetch_and_sub(&peer->busy, 1);
	}
	if ((was & CALL_LIMIT_STRAYS) && was >> CALL_LIMIT_ROUND == (__u16)k->round)
		__sync_fetch_and_sub(&k->lingering, 1);
	r = was & CALL_LIMIT_LINGERS ? request_lookup(id) : NULL;
	if (r && !request_is_over(r, id)) {
		__sync_fetch_and_sub(&r->flags, REQUEST_LINGERS);
		__sync_fetch_and_sub(&k->lingering, 1);
	}
}

/* Some of the answer was read, but it may go on. */
static __always_inline void call_limit_linger(struct call_limit *k, struct socket *s,
					      const struct call *c)
{
	struct request *r = c->evidence ? request_lookup(c->request) : NULL;
	__u32 at = s->call_limit & CALL_LIMIT_PEER;

	call_limit_leave(k, s, c->request);
	__sync_fetch_and_add(&k->lingering, 1);
	if (r && r->worker.tgid == c->tgid && !request_is_over(r, c->request)) {
		__sync_fetch_and_add(&r->flags, REQUEST_LINGERS);
		s->call_limit = at | CALL_LIMIT_LINGERS;
	} else {
		s->call_limit = at | CALL_LIMIT_STRAYS | (__u32)k->round << CALL_LIMIT_ROUND;
	}
}

/* The loop is in a new turn; or, if it does not `end`, it has given away what room there was. */
static __always_inline void call_limit_turns(struct call_limit *k, int ends)
{
	k->answered = k->gone = 0;
	if (ends)
		k->closed = 0;
}

/* Are there fewer calls to a peer than there may be, so that nobody waits for his turn? */
static __always_inline int call_limit_is_free(const struct call_limit *k,
					      const struct call_limit_peer *peer, __u32 gone)
{
	__u32 others = k->opening + gone + (k->lingering > 0 ? k->lingering : 0);

	if (rule_is_off(RULE_HABIT(HABIT_ROOM)))
		return 1;
	if (k->asked)
		others += k->closed;

	return peer && !k->shared && k->busy + others < k->most && peer->busy + others < peer->most;
}

/* Nobody waits now, so those who have begun their first call want no more at once. */
static __always_inline void call_limit_learn_serial(struct process *p)
{
	struct call_limit *k = &p->call_limit;

	for (int i = 0; i < CALL_LIMIT_FIRST; i++) {
		p->habit[HABIT_SERIAL].kept += k->first[i] != 0;
		k->first[i] = 0;
	}
}

/* It gets an answer while others may wait: so may it, for another call. */
static __always_inline void call_limit_forget_first(struct call_limit *k, __u64 id)
{
	for (int i = 0; i < CALL_LIMIT_FIRST; i++)
		if (k->first[i] == id)
			k->first[i] = 0;
}

/* What is known of who waits for the room that an answer makes. */
#define CALL_LIMIT_FREE_NOW (1 << 0) /* nobody, if that is given away at once */
#define CALL_LIMIT_FREE     (1 << 1) /* nor if it is when all is read that has come in this turn */

static __always_inline int call_limit_freedom(const struct call_limit *k,
					      const struct call_limit_peer *peer)
{
	__u32 gone = k->gone < k->answered ? k->gone : k->answered;

	if (!call_limit_is_free(k, peer, 0))
		return 0;
	return CALL_LIMIT_FREE_NOW | (call_limit_is_free(k, peer, gone) ? CALL_LIMIT_FREE : 0);
}

/* Something of an answer is read, the first of it or more. Returns CALL_LIMIT_FREE and the like. */
static __always_inline int call_limit_answer(struct process *p, struct socket *s,
					     const struct call *c)
{
	struct call_limit *k = &p->call_limit;
	int free;

	k->began = 0;
	if (s->call_limit & CALL_LIMIT_BUSY) {
		call_limit_linger(k, s, c);
		k->answered++;
	}
	if (process_has_habit(p, HABIT_SERIAL))
		return CALL_LIMIT_FREE_NOW | CALL_LIMIT_FREE;
	free = call_limit_freedom(k, call_limit_peer(k, s->call_limit & CALL_LIMIT_PEER));
	if (process_has_broken(p, HABIT_SERIAL))
		return free;
	if (free)
		call_limit_learn_serial(p);
	else
		call_limit_forget_first(k, c->request);
	return free;
}

/* A request (0: not known which) begins a call: does it make several at once? */
static __always_inline void call_limit_learn(struct process *p, __u64 id, __u32 peer)
{
	struct call_limit *k = &p->call_limit;
	const struct request *r = request_lookup(id);

	if (process_has_broken(p, HABIT_SERIAL) || process_has_habit(p, HABIT_SERIAL))
		return;
	if (k->began == peer && r && r->calls == 1)
		call_limit_learn_serial(p); /* there was room until now */
	if (r && r->calls == 1)
		k->first[k->firsts++ & (CALL_LIMIT_FIRST - 1)] = id;
	k->began = peer;
}

/* How many calls and connects of a request are under way. */
static __always_inline __u32 request_calls_at_once(__u64 id)
{
	const struct request *r = request_lookup(id);
	__u32 state = r ? r->state : 0;

	return (state & STATE_CALLS) / STATE_CALL + (state & STATE_CONNECTS) / STATE_CONNECT;
}

/* How many calls may turn out to have been under way at that moment. */
static __always_inline __u32 call_limit_moment_limit(const struct call_limit_moment *m,
						     __u32 opening)
{
	return m->calls + (m->pending < opening ? m->pending : opening);
}

/*
 * A call begins, and there are `now`. `asked`: number of its connection, if it is known to be what
 * that was asked for. Returns how many there have been for certain, now or at the moment `m`.
 */
static __always_inline __u32 call_limit_moment_call(struct call_limit_moment *m,
						    const struct call_limit *k, __u32 asked,
						    __u32 now)
{
	if (asked && asked <= m->asked) {
		m->calls++;
		m->pending -= !!m->pending;
		return m->calls > now ? m->calls : now;
	}
	if (now + k->opening > call_limit_moment_limit(m, k->opening))
		*m = (struct call_limit_moment){k->asked, now, k->opening};
	return now;
}

static __always_inline void call_limit_count(__u32 *count, __u32 *most, struct call_limit_moment *m,
					     const struct call_limit *k, __u32 asked)
{
	__u32 now = __sync_fetch_and_add(count, 1) + 1;

	now = call_limit_moment_call(m, k, asked, now);
	if (now > *most)
		*most = now;
}

/*
 * `a` has begun the last call of a socket. Returns the number of its connection, if Node has asked
 * for that to make this call: which is so if the loop calls when it is open, and not when something
 * else is read. Or 0. Where requests that wait for a connection take another one that is free, it
 * is not known what comes of it.
 */
static __always_inline __u32 call_limit_asked(const struct process *p, const struct actor *a,
					      const struct socket *s, const struct call *c)
{
	if (s->calls_end != 1 || c->evidence != EVIDENCE_CONNECT || a->phase != PHASE_APART ||
	    c->request != s->purpose.request || !process_has_habit(p, HABIT_FAITHFUL))
		return 0;
	return s->purpose.asked;
}

/*
 * A loop has begun a call, the last one of the socket. `peer`: a number for it, not 0. `asked`: as
 * call_limit_asked() has it.
 */
static __always_inline void call_limit_call(struct process *p, struct socket *s,
					    const struct call *c, __u32 peer, __u32 asked)
{
	struct call_limit *k = &p->call_limit;
	__u32 at = call_limit_find(k, peer);
	struct call_limit_peer *counts = call_limit_peer(k, at);

	if (!k->tid)
		k->tid = c->tid;
	k->shared |= k->tid != c->tid;
	if (request_calls_at_once(c->evidence ? c->request : 0) > 1)
		process_breaks(p, HABIT_SERIAL);
	call_limit_learn(p, c->evidence ? c->request : 0, peer);
	call_limit_count(&k->busy, &k->most, &k->moment, k, asked);
	if (counts)
		call_limit_count(&counts->busy, &counts->most, &counts->moment, k, asked);
	s->call_limit = CALL_LIMIT_BUSY | at;
}

/* A connection is asked for, or is about to be opened; what it is for was decided. */
static __always_inline void call_limit_open(struct purpose *purpose, struct process *p)
{
	if (!p || purpose->flags & PURPOSE_CALL_LIMIT)
		return;
	purpose->flags |= PURPOSE_CALL_LIMIT;
	__sync_fetch_and_add(&p->call_limit.opening, 1);
}

/* Node asks for a connection: it has begun a call, though nothing of that is to be seen yet. */
static __always_inline void call_limit_ask(struct purpose *purpose, struct process *p)
{
	if (p)
		purpose->asked = ++p->call_limit.asked;
	call_limit_open(purpose, p);
}

/* A connection that was asked for has got its call, or will not get one. */
static __always_inline void call_limit_opened(struct purpose *purpose)
{
	__u32 tgid = purpose->by.tgid;
	struct process *p = purpose->flags & PURPOSE_CALL_LIMIT ? process_lookup(&tgid) : NULL;

	purpose->flags &= ~PURPOSE_CALL_LIMIT;
	if (p)
		__sync_fetch_and_sub(&p->call_limit.opening, 1);
}

/* A process has no requests: no answer is for one. */
static __always_inline void call_limit_disperse(struct call_limit *k)
{
	if (!k->lingering)
		return;
	k->lingering = 0;
	k->round++;
}

#endif
