/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What a loop has read in one turn beside what it has read last.
 *
 * Most loops begin what a request wants as soon as they have read what it waits for. Others (with
 * tasks, say) read all that has come first, and call afterwards, in any order: there a
 * call may be for whatever was read in this turn. So these are rivals of what was read last, also
 * if they wait for other calls, or have got an answer; unless they were seen to call before
 * something else was read, or the loops of the process have shown that they are of the first kind.
 *
 * Whoever includes this has declared the store (see standing.h) and turn_goes_on().
 */
#ifndef CTXPROP_ENGINE_SAME_TURN_H
#define CTXPROP_ENGINE_SAME_TURN_H

#include "engine/standing.h"

#define WORKER_IN_TURN (WORKER_OTHERS | WORKER_UNCLEAR | WORKER_GATHERS)

/* A request's was read in this turn (0: anybody's), and another one's is next. */
static __always_inline void same_turn_add(struct worker *w, __u64 id)
{
	for (__u32 i = 0; i < WORKER_SAME_TURN; i++)
		if (i < w->same_turns && w->same_turn[i] == id)
			return;
	if (!id)
		w->same_turns = WORKER_SAME_TURN;
	if (w->same_turns < WORKER_SAME_TURN)
		w->same_turn[w->same_turns & (WORKER_SAME_TURN - 1)] = id;
	w->same_turns++;
}

/* What was read last has led to no call, and something for another request is read. */
static __always_inline void same_turn_waits(struct worker *w)
{
	enum standing standing = request_standing(w->read);

	if (w->flags & WORKER_UNSURE) {
		w->flags |= WORKER_UNCLEAR;
		return;
	}
	if (!standing_is_active(standing))
		return;
	w->flags |= WORKER_UNCLEAR;
	if (standing != STANDING_WAITING && !w->tally.unattributed)
		w->flags |= WORKER_GATHERS;
}

/* The worker is about to read something for `id`. */
static __always_inline void same_turn_reads(struct worker *w, __u64 id)
{
	__u32 was = w->flags;

	w->flags &= ~(WORKER_ASKED | WORKER_SURE);
	if (tally_open(&w->tally) < 2 || !turn_goes_on(&w->turn)) {
		w->same_turns = 0;
		w->flags &= ~WORKER_IN_TURN;
		return;
	}
	if (w->read == id && !(was & WORKER_UNSURE))
		return;
	w->flags |= WORKER_OTHERS;
	if (!(was & WORKER_ASKED))
		same_turn_waits(w);
	if ((was & (WORKER_SURE | WORKER_GATHERED)) != WORKER_SURE)
		same_turn_add(w, was & (WORKER_UNSURE | WORKER_ROOM) ? 0 : w->read);
}

/* It begins a call or connect, of `named` (0: of a request that is not known). */
static __always_inline void same_turn_calls(struct worker *w, struct process *p, __u64 named,
					    int likely)
{
	__u32 was = w->flags;

	w->flags |= WORKER_ASKED;
	if (named && named == w->read)
		w->flags |= WORKER_SURE;
	if (!(was & WORKER_OTHERS) || !turn_goes_on(&w->turn))
		return;
	if (was & WORKER_ASKED && was & WORKER_GATHERS) {
		process_breaks(p, HABIT_DIRECT);
		w->flags |= WORKER_GATHERED;
	} else if (!(was & (WORKER_ASKED | WORKER_UNCLEAR)) && likely)
		process_keeps(p, HABIT_DIRECT);
	w->flags &= ~(WORKER_UNCLEAR | (was & WORKER_ASKED ? WORKER_GATHERS : 0));
}

/* Was another request read in this turn that could begin a call now? */
static __always_inline int same_turn_has(const struct worker *w, __u64 named)
{
	if (w->same_turns > WORKER_SAME_TURN)
		return 1;
	for (__u32 i = 0; i < WORKER_SAME_TURN; i++)
		if (i < w->same_turns && w->same_turn[i] != named &&
		    standing_is_active(request_standing(w->same_turn[i])))
			return 1;
	return 0;
}

#endif
