/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Work that goes from thread to thread through queues whose put and get are seen: what a thread
 * takes out is what it works on until it takes out the next.
 *
 * Whoever includes this has declared the store (see standing.h) and turn_goes_on().
 */
#ifndef CTXPROP_ENGINE_QUEUE_H
#define CTXPROP_ENGINE_QUEUE_H

#include "engine/inherit.h"

/*
 * A loop puts something into a queue: it is for the request that it has read last, if that was in
 * this turn and it has not read others since the last one that it handed over. A loop that was
 * seen to put things later than that may do so at any time.
 */
static __always_inline __u64 loop_puts(struct worker *w, struct process *p)
{
	enum standing standing = request_standing(w->read);
	__u32 active = tally_active(&w->tally);

	if (!turn_goes_on(&w->turn)) {
		if (p && active)
			process_breaks(p, HABIT_QUEUES_PROMPT);
		return 0;
	}
	if (w->read_by != EVIDENCE_LOOP || w->fresh > 1)
		return 0;
	if (standing == STANDING_NONE || standing == STANDING_RESPONDING)
		return 0;
	if (!p || (!process_has_habit(p, HABIT_QUEUES_PROMPT) && active > 1))
		return 0;
	w->fresh = 0;
	return w->read;
}

/* Has a thread made the calls for what it took out of a queue? */
static __always_inline int is_done(const struct worker *w)
{
	return w->queue && (w->flags & WORKER_CALLED) && !worker_only(w);
}

/*
 * Where calls wait for their turn, who is done puts in the next one, whoever asked for that; and
 * who asks for another one may put in the one whose turn it is.
 */
static __always_inline int puts_next(const struct worker *w, struct process *p, __u64 queue)
{
	if (p && is_done(w) && w->queue == queue)
		process_breaks(p, HABIT_QUEUES_OWN);
	return is_done(w) || (p && !process_has_habit(p, HABIT_QUEUES_OWN) && worker_only(w));
}

/* The request that something is for which a thread puts into a queue; 0: it is not certain. */
static __always_inline __u64 queue_put(struct worker *w, struct process *p, __u64 queue)
{
	int next;
	__u64 id;

	if (w->turn.item)
		return loop_puts(w, p);
	w->flags |= WORKER_PUT;
	next = puts_next(w, p, queue);
	id = worker_is_loop(w) ? 0 : worker_at(w);
	return id && next && process_has_others(p, request_standing(id)) ? 0 : id;
}

/* Does a thread put back what it has taken out? Then the queue holds no work, but things to use. */
static __always_inline int queue_lends(const struct worker *w, __u64 queue, __u64 item)
{
	return w->queue == queue && w->item == item;
}

/*
 * A thread takes something out of a queue: has it done nothing yet about what it took out before?
 * Who takes several and goes to work then may be at any of them.
 */
static __always_inline int queue_keeps(const struct worker *w, __u64 queue)
{
	return w->queue == queue && w->item && !(w->flags & (WORKER_CALLED | WORKER_PUT));
}

/*
 * Is a thread done with what it took out of a queue, although it has made no call? Who waited for
 * that was woken, or has responded.
 */
static __always_inline int queue_is_served(const struct worker *w)
{
	enum standing standing = request_standing(w->inherited);

	return w->inherited && (w->flags & WORKER_SAID || standing == STANDING_NONE ||
				standing == STANDING_RESPONDING);
}

/*
 * A thread takes an item out of a queue (0: of one that is not known) that was put in for
 * `request` (0: not known for what). Its work comes from the queue that it has used first; if it
 * gets something else from another one on the way, then it cannot be told what it goes on with.
 */
static __always_inline void queue_take(struct worker *w, struct process *p, __u64 queue, __u64 item,
				       __u64 request)
{
	int elsewhere = w->queue && w->queue != queue;

	if (elsewhere && request == w->inherited)
		return;
	learn_told(w, p);
	if (!w->queue)
		w->queue = queue;
	w->item = item;
	w->made_for = 0;
	w->flags &= ~(WORKER_CALLED | WORKER_PUT | WORKER_DONE | WORKER_TOLD | WORKER_SAID);
	w->inherited = elsewhere ? 0 : request;
	w->inherited_by = EVIDENCE_TASK;
}

/* Profilers see what a thread works on that serves no request of its own. */
static __always_inline void queue_show(struct worker *w, const struct worker_key *key)
{
	struct request *r = request_lookup(w->inherited);

	if (tally_open(&w->tally) || (r && w->published == w->inherited))
		return;
	request_helped(w, key);
	if (r)
		request_help(r, w->inherited, w, key);
}

static __always_inline void queue_got(struct worker *w, const struct worker_key *key, __u64 queue,
				      __u64 item, __u64 request)
{
	__u32 tgid = key->tgid;

	queue_take(w, process_lookup(&tgid), queue, item, request);
	queue_show(w, key);
}

/* A loop has handed over what it has read, and goes on with others. */
static __always_inline void queue_handed_over(struct worker *w, const struct worker_key *key,
					      __u64 request)
{
	if (w->turn.item)
		worker_hide(w, key, request);
}

/*
 * A thread asks a queue for something, and may have to wait: is that where its work comes from,
 * then nobody is to see it at work any more. (It may only look whether there is more of it.)
 */
static __always_inline void queue_asked(struct worker *w, const struct worker_key *key, __u64 queue)
{
	if (w->queue == queue && !tally_open(&w->tally))
		request_helped(w, key);
}

#endif
