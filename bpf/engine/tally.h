/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * How many requests of a worker, and of its process, could begin a call right now: what a veto
 * is decided by.
 *
 * A request that was taken up is idle, until a call of its own is outstanding (waiting), or only
 * a connect (connecting: another connection might be used yet), or until its response has begun
 * (responding: it makes no more calls). One that has got an answer, but does nothing yet, may
 * only wait for the rest of it (answered). Packets and probes move it at the same time on several
 * CPUs, so all there is to know of it stands in one word that is changed atomically, and each
 * change carries what it means over to the tallies.
 */
#ifndef CTXPROP_ENGINE_TALLY_H
#define CTXPROP_ENGINE_TALLY_H

#include <linux/types.h>

/* struct request.state */
#define STATE_CALL       1U         /* one call that is outstanding */
#define STATE_CONNECT    (1U << 12) /* one connect */
#define STATE_CALLS      0xfffU
#define STATE_CONNECTS   0xfff000U
#define STATE_ANSWERED   (1U << 28) /* some answer has begun */
#define STATE_RESPONDING (1U << 29)
#define STATE_TAKEN      (1U << 30)
#define STATE_ENDED      (1U << 31)

enum standing {
	STANDING_NONE, /* not taken yet, or over */
	STANDING_IDLE,
	STANDING_ANSWERED,
	STANDING_CONNECTING,
	STANDING_WAITING,
	STANDING_RESPONDING,
	STANDING_COUNT,
};

struct tally {
	__u32 in[STANDING_COUNT]; /* requests by standing; [STANDING_NONE] is not kept */
	__u32 unattributed;       /* calls outstanding that one of the idle ones is waiting for */
	__u32 open;               /* requests of any standing, at any moment */
};

static __always_inline enum standing standing_of(__u32 state)
{
	if (!(state & STATE_TAKEN) || (state & STATE_ENDED))
		return STANDING_NONE;
	if (state & STATE_RESPONDING)
		return STANDING_RESPONDING;
	if (state & STATE_CALLS)
		return STANDING_WAITING;
	if (state & STATE_CONNECTS)
		return STANDING_CONNECTING;
	return state & STATE_ANSWERED ? STANDING_ANSWERED : STANDING_IDLE;
}

/* Could one of this standing begin calls, now or any time? */
static __always_inline int standing_is_active(enum standing standing)
{
	return standing != STANDING_NONE && standing != STANDING_RESPONDING;
}

/* One request changes its standing. Meanwhile it is among those that are open, in any case. */
static __always_inline void tally_move(struct tally *t, enum standing from, enum standing to)
{
	if (from == STANDING_NONE && to != STANDING_NONE)
		__sync_fetch_and_add(&t->open, 1);
	if (from != STANDING_NONE)
		__sync_fetch_and_sub(&t->in[from], 1);
	if (to != STANDING_NONE)
		__sync_fetch_and_add(&t->in[to], 1);
	if (from != STANDING_NONE && to == STANDING_NONE)
		__sync_fetch_and_sub(&t->open, 1);
}

/*
 * A count that lost its way below zero (a worker's requests end after it has) is none. Without a
 * branch, since the verifier walks what follows once for each way that led there.
 */
static __always_inline __u32 tally_of(const struct tally *t, enum standing standing)
{
	__s32 count = (__s32)t->in[standing], negative = count >> 31;

	__asm__("" : "+r"(negative)); /* compilers see through it */
	return count & ~negative;
}

/* Requests that are not over. */
static __always_inline __u32 tally_open(const struct tally *t)
{
	return tally_of(t, STANDING_IDLE) + tally_of(t, STANDING_ANSWERED) +
	       tally_of(t, STANDING_CONNECTING) + tally_of(t, STANDING_WAITING) +
	       tally_of(t, STANDING_RESPONDING);
}

/* Of these, the ones that have not begun their response. */
static __always_inline __u32 tally_active(const struct tally *t)
{
	return tally_open(t) - tally_of(t, STANDING_RESPONDING);
}

/* Which requests could begin the call at hand, beside the idle ones. */
enum rival_kind {
	RIVAL_ANSWERED = 1 << 0,
	RIVAL_CONNECTING = 1 << 1, /* they might be given a connection that is free now */
	RIVAL_UNSURE = 1 << 2,     /* unattributed calls may be of those that have an answer */
	RIVAL_RESPONDING = 1 << 3, /* they make no calls, but may be worked on */
};

/* How many requests of a standing there are beside one that has standing `named`. */
static __always_inline __s32 tally_others(const struct tally *t, enum standing of,
					  enum standing named)
{
	return (__s32)tally_of(t, of) - (named == of);
}

/* How many requests other than one of the given standing could begin the call at hand. */
static __always_inline __s32 tally_rivals(const struct tally *t, enum standing named, __u32 kinds)
{
	__s32 rivals = tally_others(t, STANDING_IDLE, named);
	__s32 answered = tally_others(t, STANDING_ANSWERED, named);
	__s32 waiting = (__s32)t->unattributed;

	if (kinds & RIVAL_ANSWERED)
		rivals += answered;
	else if (kinds & RIVAL_UNSURE)
		waiting = waiting > answered ? waiting - answered : 0;
	if (kinds & RIVAL_CONNECTING)
		rivals += tally_others(t, STANDING_CONNECTING, named);
	if (kinds & RIVAL_RESPONDING)
		rivals += tally_others(t, STANDING_RESPONDING, named);
	return rivals - waiting;
}

/* Is one that has standing `named` the only one that could begin calls, now or any time? */
static __always_inline int tally_is_alone(const struct tally *t, enum standing named)
{
	return tally_others(t, STANDING_IDLE, named) + tally_others(t, STANDING_ANSWERED, named) +
		   tally_others(t, STANDING_CONNECTING, named) +
		   tally_others(t, STANDING_WAITING, named) + (__s32)t->unattributed <=
	       0;
}

#endif
