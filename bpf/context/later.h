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
#ifndef CTXPROP_CONTEXT_LATER_H
#define CTXPROP_CONTEXT_LATER_H

#include "context/standing.h"

#define LATER_READINGS 64 /* in a turn, that can be told apart; a power of two */

#define LATER_FOLLOWERS 8 /* that are looked at, of a reading */

#define LATER_SEEN 256 /* calls, until a process is believed to do what it has done so far */

/* Calls like that, until what was left for later is believed to make but one. */
#define LATER_SINGLES 32

#define LATER_ACCEPTED 1 /* instead of an item: new connections, one after the other */

/* Of worker.flags: what is kept of each reading. */
#define LATER_FLAGS (WORKER_SPENT | WORKER_UNSURE | WORKER_GOES_ON | WORKER_FREE | WORKER_ROOM)

/* Numbers are doubles that are not negative: their bits have the same order. */
struct later_reading {
	__u64 number;  /* the last that was given before it */
	__u64 request; /* what it was for; 0: not known */
	__u16 flags;   /* LATER_FLAGS */
	__u8 by;       /* enum evidence */
	__u8 reserved[5];
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
	__u8 is_followed;    /* 1: `asked` has called when others could have had it call for them */
	__u8 batches;        /* 1: something that was left for later has called twice */
	__u32 singles;       /* times that it has not though it was followed, up to LATER_SINGLES */
	__u32 reserved;
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

/* What was left for later calls, and has this number: is it the one that has called before? */
static __always_inline void later_learn(struct later *l, __u64 number)
{
	if (number == l->asked)
		l->batches = 1;
	else if (l->is_followed && l->singles < LATER_SINGLES)
		l->singles++;
	l->is_followed = 0;
}

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

	later_learn(l, number);
	l->asked = number;
	if (at == LATER_BEFORE)
		return is_newer ? LATER_UNTOLD : at;
	return number == before ? LATER_UNTOLD : at;
}

/* Was something read since, in the same turn, for another request that may call? */
static __always_inline int later_is_followed(const struct later *l, __u32 at)
{
	const struct later_reading *r = &l->reading[at & (LATER_READINGS - 1)], *next;

	if (l->count - at > LATER_FOLLOWERS)
		return 1;
	for (__u32 i = 1; i < LATER_FOLLOWERS && at + i < l->count; i++) {
		next = &l->reading[(at + i) & (LATER_READINGS - 1)];
		if (next->by && next->request != r->request &&
		    (!next->request || standing_is_active(request_standing(next->request))))
			return 1;
	}
	return 0;
}

/*
 * May it be at a request that was read since? What was asked for by one may begin the calls of
 * several, the last one first: until so many have begun but one that none is believed to.
 *
 * And after an answer it is left for later that its connection is used again (as undici does). Who
 * is read after that may find the connection free, and call there. Where that was never seen
 * (`p->hands_on`), a request that has got an answer is believed to call first, if it has neither
 * called since nor waits for other answers.
 */
static __always_inline int later_is_overtaken(const struct later *l, const struct process *p,
					      const struct later_reading *r)
{
	if (!l->is_followed)
		return 0;
	if (l->batches || l->singles < LATER_SINGLES)
		return 1;
	return r->by == EVIDENCE_ANSWER &&
	       (!p || p->prompt < LATER_SEEN || (r->flags & WORKER_GOES_ON) ||
		request_standing(r->request) == STANDING_WAITING);
}

/* The worker is at this reading again. `is_followed`: as later_is_followed() says, if it is told.
 */
static __always_inline void later_goes_back(struct later *l, struct worker *w,
					    const struct process *p, __u32 at, int is_followed)
{
	const struct later_reading *r;

	later_keep(l, w->flags);
	l->at = at;
	l->is_followed = is_followed;
	at = *(volatile __u32 *)&l->at; /* the verifier walks what follows but once */
	r = later_reading(l, at);
	w->read = r->request;
	w->read_by = r->by;
	w->flags = (w->flags & ~LATER_FLAGS) | r->flags;
	if ((r->by == EVIDENCE_ANSWER && r->flags & WORKER_ROOM) || later_is_overtaken(l, p, r))
		w->flags |= WORKER_UNSURE;
}

#endif
