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
#ifndef CTXPROP_CONTEXT_CROWD_H
#define CTXPROP_CONTEXT_CROWD_H

#include "context/decide.h"
#include "context/standing.h"

/* struct socket.crowd: in which count its last call is. */
#define CROWD_PEER    0xffU     /* which peer of the crowd, from 1 on; 0: there is no room for it */
#define CROWD_BUSY    (1U << 8) /* no byte of the answer was read yet */
#define CROWD_LINGERS (1U << 9) /* some was; it counts for its request, until that is over */
#define CROWD_STRAYS  (1U << 10) /* the same, not known for which request */
#define CROWD_ROUND   16         /* CROWD_STRAYS: struct crowd.round, from this bit on */

/*
 * A number for a peer's address and port, not 0. Peers that are alike (all but one bit of the
 * address, or as much more of one as less of the other) still have different ones.
 */
static __always_inline __u32 crowd_peer_number(const __u64 address[2], __u16 port)
{
	const __u64 odd = 0x9e3779b97f4a7c15ULL; /* 2^64 by the golden ratio */
	__u64 mixed = address[0] * odd;

	mixed = (mixed ^ mixed >> 32 ^ address[1]) * odd;
	mixed = (mixed ^ mixed >> 32 ^ port) * odd;
	return mixed >> 32 ? mixed >> 32 : 1;
}

static __always_inline struct crowd_peer *crowd_peer(struct crowd *k, __u32 at)
{
	return at && at <= CROWD_PEERS ? &k->peer[(at - 1) & (CROWD_PEERS - 1)] : NULL;
}

/* Which peer of the crowd it is, a new one if there is room; 0: there is none. */
static __always_inline __u32 crowd_find(struct crowd *k, __u32 peer)
{
	for (__u32 i = 0; i < CROWD_PEERS; i++) {
		if (!k->peer[i].peer)
			k->peer[i].peer = peer;
		if (k->peer[i].peer == peer)
			return i + 1;
	}
	return 0;
}

/* So many calls linger no more. Answers that were read in this turn may have been theirs. */
static __always_inline void crowd_goes(struct crowd *k, __u32 count)
{
	__sync_fetch_and_add(&k->gone, count);
}

/* The last call of a socket counts no more. `id`: the request that it was attributed to; or 0. */
static __always_inline void crowd_leave(struct crowd *k, struct socket *s, __u64 id)
{
	__u32 was = __sync_lock_test_and_set(&s->crowd, 0);
	struct crowd_peer *peer = crowd_peer(k, was & CROWD_PEER);
	struct request *r;

	if (was & (CROWD_LINGERS | CROWD_STRAYS))
		crowd_goes(k, 1);
	if (was & CROWD_BUSY) {
		__sync_fetch_and_sub(&k->busy, 1);
		if (peer)
			__sync_fetch_and_sub(&peer->busy, 1);
	}
	if ((was & CROWD_STRAYS) && was >> CROWD_ROUND == (__u16)k->round)
		__sync_fetch_and_sub(&k->lingering, 1);
	r = was & CROWD_LINGERS ? request_lookup(id) : NULL;
	if (r && !request_is_over(r, id)) {
		__sync_fetch_and_sub(&r->flags, REQUEST_LINGERS);
		__sync_fetch_and_sub(&k->lingering, 1);
	}
}

/* Some of the answer was read, but it may go on. */
static __always_inline void crowd_linger(struct crowd *k, struct socket *s, const struct call *c)
{
	struct request *r = c->evidence ? request_lookup(c->request) : NULL;
	__u32 at = s->crowd & CROWD_PEER;

	crowd_leave(k, s, c->request);
	__sync_fetch_and_add(&k->lingering, 1);
	if (r && r->worker.tgid == c->tgid && !request_is_over(r, c->request)) {
		__sync_fetch_and_add(&r->flags, REQUEST_LINGERS);
		s->crowd = at | CROWD_LINGERS;
	} else {
		s->crowd = at | CROWD_STRAYS | (__u32)k->round << CROWD_ROUND;
	}
}

/* The loop is in a new turn; or, if it does not `end`, it has given away what room there was. */
static __always_inline void crowd_turns(struct crowd *k, int ends)
{
	k->answered = k->gone = 0;
	if (ends)
		k->closed = 0;
}

/* Are there fewer calls to a peer than there may be, so that nobody waits for his turn? */
static __always_inline int crowd_is_free(const struct crowd *k, const struct crowd_peer *peer,
					 __u32 gone)
{
	__u32 others = k->opening + gone + (k->lingering > 0 ? k->lingering : 0);

	if (rule_is_off(RULE_HABIT(HABIT_ROOM)))
		return 1;
	if (k->asked)
		others += k->closed;

	return peer && !k->shared && k->busy + others < k->most && peer->busy + others < peer->most;
}

/* Nobody waits now, so those who have begun their first call want no more at once. */
static __always_inline void crowd_learn_serial(struct crowd *k)
{
	for (int i = 0; i < CROWD_FIRST; i++) {
		k->serial += k->first[i] != 0;
		k->first[i] = 0;
	}
}

/* It gets an answer while others may wait: so may it, for another call. */
static __always_inline void crowd_forget_first(struct crowd *k, __u64 id)
{
	for (int i = 0; i < CROWD_FIRST; i++)
		if (k->first[i] == id)
			k->first[i] = 0;
}

/* What is known of who waits for the room that an answer makes. */
#define CROWD_FREE_NOW (1 << 0) /* nobody, if that is given away at once */
#define CROWD_FREE     (1 << 1) /* nor if it is when all is read that has come in this turn */

static __always_inline int crowd_freedom(const struct crowd *k, const struct crowd_peer *peer)
{
	__u32 gone = k->gone < k->answered ? k->gone : k->answered;

	if (!crowd_is_free(k, peer, 0))
		return 0;
	return CROWD_FREE_NOW | (crowd_is_free(k, peer, gone) ? CROWD_FREE : 0);
}

/* Something of an answer is read, the first of it or more. Returns CROWD_FREE and the like. */
static __always_inline int crowd_answer(struct crowd *k, struct socket *s, const struct call *c)
{
	int free;

	k->began = 0;
	if (s->crowd & CROWD_BUSY) {
		crowd_linger(k, s, c);
		k->answered++;
	}
	if (crowd_is_serial(k))
		return CROWD_FREE_NOW | CROWD_FREE;
	free = crowd_freedom(k, crowd_peer(k, s->crowd & CROWD_PEER));
	if (k->parallel)
		return free;
	if (free)
		crowd_learn_serial(k);
	else
		crowd_forget_first(k, c->request);
	return free;
}

/* A request (0: not known which) begins a call: does it make several at once? */
static __always_inline void crowd_learn(struct crowd *k, __u64 id, __u32 peer)
{
	const struct request *r = request_lookup(id);

	if (k->parallel || crowd_is_serial(k))
		return;
	if (k->began == peer && r && r->calls == 1)
		crowd_learn_serial(k); /* there was room until now */
	if (r && r->calls == 1)
		k->first[k->firsts++ & (CROWD_FIRST - 1)] = id;
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
static __always_inline __u32 crowd_moment_limit(const struct crowd_moment *m, __u32 opening)
{
	return m->calls + (m->pending < opening ? m->pending : opening);
}

/*
 * A call begins, and there are `now`. `asked`: number of its connection, if it is known to be what
 * that was asked for. Returns how many there have been for certain, now or at the moment `m`.
 */
static __always_inline __u32 crowd_moment_call(struct crowd_moment *m, const struct crowd *k,
					       __u32 asked, __u32 now)
{
	if (asked && asked <= m->asked) {
		m->calls++;
		m->pending -= !!m->pending;
		return m->calls > now ? m->calls : now;
	}
	if (now + k->opening > crowd_moment_limit(m, k->opening))
		*m = (struct crowd_moment){k->asked, now, k->opening};
	return now;
}

static __always_inline void crowd_count(__u32 *count, __u32 *most, struct crowd_moment *m,
					const struct crowd *k, __u32 asked)
{
	__u32 now = __sync_fetch_and_add(count, 1) + 1;

	now = crowd_moment_call(m, k, asked, now);
	if (now > *most)
		*most = now;
}

/*
 * `a` has begun the last call of a socket. Returns the number of its connection, if Node has asked
 * for that to make this call: which is so if the loop calls when it is open, and not when something
 * else is read. Or 0. Where requests that wait for a connection take another one that is free, it
 * is not known what comes of it.
 */
static __always_inline __u32 crowd_asked(const struct process *p, const struct actor *a,
					 const struct socket *s, const struct call *c)
{
	if (s->calls_end != 1 || c->evidence != EVIDENCE_CONNECT || a->phase != PHASE_APART ||
	    c->request != s->purpose.request || !process_is_faithful(p))
		return 0;
	return s->purpose.asked;
}

/*
 * A loop has begun a call, the last one of the socket. `peer`: a number for it, not 0. `asked`: as
 * crowd_asked() has it.
 */
static __always_inline void crowd_call(struct crowd *k, struct socket *s, const struct call *c,
				       __u32 peer, __u32 asked)
{
	__u32 at = crowd_find(k, peer);
	struct crowd_peer *counts = crowd_peer(k, at);

	if (!k->tid)
		k->tid = c->tid;
	k->shared |= k->tid != c->tid;
	if (request_calls_at_once(c->evidence ? c->request : 0) > 1)
		k->parallel = 1;
	crowd_learn(k, c->evidence ? c->request : 0, peer);
	crowd_count(&k->busy, &k->most, &k->moment, k, asked);
	if (counts)
		crowd_count(&counts->busy, &counts->most, &counts->moment, k, asked);
	s->crowd = CROWD_BUSY | at;
}

/* A connection is asked for, or is about to be opened; what it is for was decided. */
static __always_inline void crowd_open(struct purpose *purpose, struct process *p)
{
	if (!p || purpose->flags & PURPOSE_CROWD)
		return;
	purpose->flags |= PURPOSE_CROWD;
	__sync_fetch_and_add(&p->crowd.opening, 1);
}

/* Node asks for a connection: it has begun a call, though nothing of that is to be seen yet. */
static __always_inline void crowd_ask(struct purpose *purpose, struct process *p)
{
	if (p)
		purpose->asked = ++p->crowd.asked;
	crowd_open(purpose, p);
}

/* A connection that was asked for has got its call, or will not get one. */
static __always_inline void crowd_opened(struct purpose *purpose)
{
	__u32 tgid = purpose->by.tgid;
	struct process *p = purpose->flags & PURPOSE_CROWD ? process_lookup(&tgid) : NULL;

	purpose->flags &= ~PURPOSE_CROWD;
	if (p)
		__sync_fetch_and_sub(&p->crowd.opening, 1);
}

/* A process has no requests: no answer is for one. */
static __always_inline void crowd_disperse(struct crowd *k)
{
	if (!k->lingering)
		return;
	k->lingering = 0;
	k->round++;
}

#endif
