/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * What a loop of Node leaves for later in a turn (setImmediate): in the course of which reading
 * was it asked for?
 *
 * Node numbers what it makes, upwards, and knows the number of what runs (async_hooks, whose
 * numbers are kept whether there are hooks or not). So what has a number that was given between
 * two readings was asked for by what handled the first of them: if all that happened in the turn
 * are readings that are known. libuv counts what happens, which tells.
 *
 * When a call begins that was left for later, the worker is at that reading again: `read` and its
 * flags are those of then. So all rules for what was read last hold.
 *
 * Whoever includes this has declared the store (see standing.h).
 */
#ifndef CTXPROP_RUNTIMES_NODE_LATER_H
#define CTXPROP_RUNTIMES_NODE_LATER_H

#include "engine/phase.h"
#include "engine/standing.h"

#define LATER_READINGS 64 /* in a turn, that can be told apart; a power of two */

#define LATER_NEAR 8 /* readings that are looked at, before and after one */

#define LATER_SEEN 256 /* calls, until a process is believed to do what it has done so far */

#define LATER_ACCEPTED 1 /* instead of an item: new connections, one after the other */

/* Of worker.flags: what is kept of each reading. */
#define LATER_FLAGS (WORKER_SPENT | WORKER_UNSURE | WORKER_GOES_ON | WORKER_FREE | WORKER_ROOM)

/* Numbers are doubles that are not negative: their bits have the same order. */
struct later_reading {
	__u64 number;  /* the last that was given before it */
	__u64 request; /* what it was for; 0: not known */
	__u16 flags;   /* LATER_FLAGS */
	__u8 by;       /* enum evidence */
	__u8 is_open;  /* 1: that request was not over */
	__u8 reserved[4];
};

/* Map `laters`, by process and thread at once. */
struct later {
	__u64 handle;  /* of the loop's check phase, in libuv: its address */
	__u64 numbers; /* address of Node's four: of what runs, of who made that, the last given */
	__u64 counts;  /* address of libuv's two: turns, and what has happened in all of them */
	__u64 turns, events; /* these, when the last turn had read everything */
	__u64 end;           /* the number given last at that moment */
	__u64 asked;         /* the number of what has called or connected last */
	__u64 item;          /* struct turn.item of what was read last, or LATER_ACCEPTED */
	__u32 known;         /* events of this turn: sockets that were read, and the like */
	__u32 count;         /* readings, also those that there is no room for */
	__u32 at;            /* the one whose flags the worker has */
	__u8 is_over;        /* 1: everything is read in this turn */
	__u8 is_exact;       /* 1: and nothing else has happened */
	__u8 reserved[2];
	/*
	 * Kept by responses that bore out that what was left for later calls for its own; broken
	 * where it has called twice, or for another request.
	 */
	struct habit orderly;
	struct later_reading reading[LATER_READINGS];
};
_Static_assert(sizeof(struct later) == 88 + LATER_READINGS * 24, "later is shared");

static __always_inline struct later_reading *later_reading(struct later *l, __u32 at)
{
	return &l->reading[at & (LATER_READINGS - 1)];
}

/* The flags that the worker had (LATER_FLAGS, or more) are kept with its reading. */
static __always_inline void later_keep(struct later *l, __u32 flags)
{
	if (l->at < l->count)
		later_reading(l, l->at)->flags = flags & LATER_FLAGS;
}

/*
 * Something was read, or a connection has come: `item` as in struct later. `before`: the flags that
 * the worker had before it.
 */
static __always_inline void later_read(struct later *l, const struct later_reading *now, __u64 item,
				       __u32 before)
{
	if (l->is_over)
		l->count = l->known = l->is_over = l->is_exact = l->item = 0;
	later_keep(l, before);
	if (l->item != item || !item)
		l->known++;
	l->item = item;
	l->at = l->count++;
	if (l->at < LATER_READINGS)
		*later_reading(l, l->at) = *now;
}

/* The worker has read something; `number` is the last that was given. */
static __always_inline void later_reads_now(struct later *l, const struct worker *w, __u64 number)
{
	const struct later_reading now = {.number = number,
					  .request = w->read,
					  .flags = w->flags & LATER_FLAGS,
					  .by = w->read_by,
					  .is_open = request_standing(w->read) != STANDING_NONE};

	later_read(l, &now, w->turn.item, w->before);
}

/* libuv's counts. */
struct later_counts {
	__u64 turns, events;
};

/* Everything is read in this turn: what was left for later comes next. */
static __always_inline void later_is_over(struct later *l, const struct later_counts *now,
					  __u64 number)
{
	if (l->is_over) /* already, so nothing was read in this one */
		l->count = l->known = 0;
	l->is_exact = l->turns && now->turns == l->turns + 1 && l->count <= LATER_READINGS &&
		      now->events - l->events == l->known;
	l->is_over = 1;
	l->turns = now->turns;
	l->events = now->events;
	l->end = number;
}

#define LATER_UNTOLD (-1) /* it may have been asked for anywhere */
#define LATER_BEFORE (-2) /* in no reading of this turn */

/* 1: a is less than b, 0: it is not; both below 2^63. Without a branch. */
static __always_inline int later_is_less(__u64 a, __u64 b)
{
	return (a - b) >> 63;
}

/*
 * Where among the readings of the turn was that asked for which has this number? Their numbers
 * rise, so those below it are counted; without branches, each of which the verifier would follow.
 */
static __always_inline int later_find(const struct later *l, __u64 number)
{
	int before = 0;

	if (!number || !l->is_over || !l->count || number > l->end)
		return LATER_UNTOLD;
	for (int i = 0; i < LATER_READINGS; i++)
		before += later_is_less(i, l->count) & later_is_less(l->reading[i].number, number);
	if (!before)
		return LATER_BEFORE;
	return l->is_exact ? before - 1 : LATER_UNTOLD;
}

/* Numbers of what runs, and of what ran when that was made; 0: of nothing that has one. */
struct later_running {
	__u64 runs, maker;
};

/*
 * What runs has done something: where was it asked for? What is made meanwhile (process.nextTick),
 * by something that was left for later, is of where that is of. What does several things may do
 * them for several requests.
 */
static __always_inline int later_find_running(struct later *l, const struct later_running *now)
{
	int is_newer = now->runs > l->end;
	__u64 number = is_newer ? now->maker : now->runs, before = l->asked;
	int at = later_find(l, number);

	if (number == before)
		habit_breaks(&l->orderly);
	l->asked = number;
	if (at == LATER_BEFORE)
		return is_newer ? LATER_UNTOLD : at;
	return number == before ? LATER_UNTOLD : at;
}

/* Was the reading an answer after which somebody else may have got his turn, or his connection? */
static __always_inline int later_gives_turns(const struct later_reading *r)
{
	return r->by == EVIDENCE_ANSWER && (r->flags & (WORKER_FREE | WORKER_ROOM)) != WORKER_FREE;
}

/*
 * May what was read lead to a call of another request than `id`? That it was for one that had
 * ended, or the answer to a call of which is not known whose it was, says that anybody goes on.
 */
static __always_inline int later_is_of_others(const struct later_reading *r, __u64 id)
{
	if (!r->by)
		return 0;
	if (!r->request || !r->is_open || r->flags & WORKER_UNSURE || later_gives_turns(r))
		return 1;
	return r->request != id && standing_is_active(request_standing(r->request));
}

#define LATER_OTHERS_BEFORE 1
#define LATER_OTHERS_SINCE  2

/* Was something read in the same turn for another request that may call? 0, or LATER_OTHERS_... */
VERIFIED_ALONE int later_others(const struct later *l, __u32 at)
{
	int others = 0;
	__u64 id;

	if (!l)
		return 0;
	if (at > LATER_NEAR)
		others |= LATER_OTHERS_BEFORE;
	if (l->count - at > LATER_NEAR)
		others |= LATER_OTHERS_SINCE;
	id = l->reading[at & (LATER_READINGS - 1)].request;
	for (__u32 i = 1; i <= LATER_NEAR; i++) {
		if (i <= at && later_is_of_others(&l->reading[(at - i) & (LATER_READINGS - 1)], id))
			others |= LATER_OTHERS_BEFORE;
		if (at + i < l->count &&
		    later_is_of_others(&l->reading[(at + i) & (LATER_READINGS - 1)], id))
			others |= LATER_OTHERS_SINCE;
	}
	return others;
}

/* Habit `orderly`: is what it has left for later believed to make one call, its own? */
static __always_inline int later_is_orderly(const struct later *l)
{
	return habit_is_believed(l->orderly, HABIT_ORDERLY);
}

/*
 * May it be at another request that was read in this turn? What was asked for by one may begin the
 * calls of several, or the one that was wanted last: until it was seen so often that it does not.
 *
 * And after an answer it is left for later that its connection is used again (as undici does). Who
 * is read after that may find the connection free, and call there. Where that was never seen
 * (habit `keeps-turn`), a request that has got an answer is believed to call first, if it has
 * neither called since nor waits for other answers.
 */
static __always_inline int later_is_overtaken(const struct later *l, const struct process *p,
					      const struct later_reading *r, int others)
{
	if (others && !later_is_orderly(l))
		return 1;
	return r->by == EVIDENCE_ANSWER && (others & LATER_OTHERS_SINCE) &&
	       (!p || p->habit[HABIT_PROMPT].kept < LATER_SEEN || (r->flags & WORKER_GOES_ON) ||
		request_standing(r->request) == STANDING_WAITING);
}

/* The worker is at this reading again. `others`: as later_others() says, if it is told. */
static __always_inline void later_goes_back(struct later *l, struct worker *w,
					    const struct process *p, __u32 at, int others)
{
	const struct later_reading *r;

	later_keep(l, w->flags);
	l->at = at;
	at = *(volatile __u32 *)&l->at; /* the verifier walks what follows but once */
	r = later_reading(l, at);
	w->read = r->request;
	w->read_by = r->by;
	w->flags = (w->flags & ~(LATER_FLAGS | WORKER_AMONG)) | r->flags;
	if (others && !(r->flags & WORKER_UNSURE))
		w->flags |= WORKER_AMONG;
	if ((r->by == EVIDENCE_ANSWER && r->flags & WORKER_ROOM) ||
	    later_is_overtaken(l, p, r, others))
		w->flags |= WORKER_UNSURE;
}

/*
 * A response of request `id` begins. If the answer that was read last is to a call of what was left
 * for later beside others, it should be of that one's request (so the guess, at least).
 */
static __always_inline void later_learns(struct later *l, struct worker *w, __u64 id)
{
	if (!(w->flags & WORKER_TRIED) || l->is_over)
		return;
	w->flags &= ~WORKER_TRIED;
	if (id != w->read)
		habit_breaks(&l->orderly);
	else
		habit_keeps(&l->orderly);
}

/* What does the worker do that was left for later at `at` (as later_find_running() says)? */
static __always_inline enum actor_phase later_asks(struct later *l, struct worker *w,
						   struct process *p, int at)
{
	int is_told = at >= 0;

	if (l->orderly.broken && p) /* some may be among these whose next call nobody knew */
		process_breaks(p, HABIT_SERIAL);
	if (at == LATER_BEFORE)
		return PHASE_APART;
	if (at == LATER_UNTOLD)
		at = (int)l->count - 1;
	if (at >= 0 && at < LATER_READINGS)
		later_goes_back(l, w, p, at, is_told ? later_others(l, at) : 0);
	return is_told ? PHASE_ASKED : PHASE_LATER;
}

#endif
