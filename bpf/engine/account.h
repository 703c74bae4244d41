/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Keeping account of requests: standings, tallies, what traces_ctx_v1 shows, and the end.
 */
#ifndef CTXPROP_ENGINE_ACCOUNT_H
#define CTXPROP_ENGINE_ACCOUNT_H

#include "engine/ids.h"
#include "runtimes/runtime.h"
#include "engine/standing.h"
#include "engine/stray.h"
#include "engine/traces.h"

/* Carry over to the tallies, if there are any, what a change of a request's state means. */
static __always_inline void tallies_move(struct worker *w, struct process *p, __u32 from, __u32 to)
{
	enum standing before = standing_of(from), after = standing_of(to);

	if (w)
		tally_move(&w->tally, before, after);
	if (p)
		tally_move(&p->tally, before, after);
}

static __always_inline void request_moved(const struct request *r, __u32 from, __u32 to)
{
	if (standing_of(from) != standing_of(to))
		tallies_move(worker_lookup(&r->worker), process_lookup(&r->worker.tgid), from, to);
}

static __always_inline void request_add(__u64 id, __u32 what)
{
	struct request *r = request_lookup(id);
	__u32 before;

	if (!r)
		return;
	if (what == STATE_CALL)
		r->calls++;
	before = __sync_fetch_and_add(&r->state, what);
	request_moved(r, before, before + what);
}

static __always_inline void request_sub(__u64 id, __u32 what)
{
	struct request *r = request_lookup(id);
	__u32 before;

	if (!r)
		return;
	before = __sync_fetch_and_sub(&r->state, what);
	request_moved(r, before, before - what);
}

/* Sets bits of the state; returns what it was before. */
static __always_inline __u32 request_mark(struct request *r, __u32 what)
{
	__u32 before = __sync_fetch_and_or(&r->state, what);

	request_moved(r, before, before | what);
	return before;
}

/* The same where the entries of its worker and its process are at hand. */
static __always_inline __u32 request_mark_of(struct request *r, __u32 what, struct worker *w,
					     struct process *p)
{
	__u32 before = __sync_fetch_and_or(&r->state, what);

	tallies_move(w, p, before, before | what);
	return before;
}

/* The same; returns whether they were not set before. */
static __always_inline int request_set(struct request *r, __u32 what)
{
	return !(request_mark(r, what) & what);
}

/* The answer to one of its calls has begun. */
static __always_inline void request_answered(__u64 id)
{
	struct request *r = request_lookup(id);

	if (r && !(r->state & STATE_ANSWERED))
		request_set(r, STATE_ANSWERED);
	request_sub(id, STATE_CALL);
}

/* Count a call or connect of which only is known that one of the idle requests waits for it. */
static __always_inline void unattributed_add(const struct worker_key *key, int sign)
{
	struct worker *w = worker_lookup(key);
	struct process *p = process_lookup(&key->tgid);

	if (w)
		__sync_fetch_and_add(&w->tally.unattributed, sign);
	if (p)
		__sync_fetch_and_add(&p->tally.unattributed, sign);
}

/*
 * It is over. `number`: of the process (struct process) when it was counted: if that is gone, the
 * one that has its id now has nothing to do with it.
 */
static __always_inline void unattributed_take(const struct worker_key *key, __u32 number)
{
	const struct process *p = process_lookup(&key->tgid);

	if (p && p->number == number)
		unattributed_add(key, -1);
}

/* Show profilers what a thread is at. Goroutines change threads: see goroutine_show.bpf.h. */
static __always_inline void worker_publish(struct worker *w, const struct worker_key *key, __u64 id,
					   const struct request *r)
{
	__u64 thread = traces_ctx_key(key->tgid, key->tid);

	if (key->context || w->published == id)
		return;
	w->published = id;
	traces_set(thread, request_shown(r, id));
	if (request_is_over(r, id)) {
		traces_unset(thread);
		w->published = 0;
	}
}

/* The thread that a goroutine was at may show another one's request by now. */
static __always_inline void goroutine_unpublish(const struct worker *w, __u32 tgid, __u64 id)
{
	__u64 thread = traces_ctx_key(tgid, w->published_on);
	const struct traces_ctx *shown = traces_lookup(thread);

	if (shown && traces_ctx_span(shown) == id)
		traces_unset(thread);
}

/* Request `id` is shown no more. If the worker shows another one by now, or none, so it stays. */
static __always_inline void worker_hide(struct worker *w, const struct worker_key *key, __u64 id)
{
	if (!id || __sync_val_compare_and_swap(&w->published, id, 0) != id)
		return;
	if (key->context)
		goroutine_unpublish(w, key->tgid, id);
	else
		traces_unset(traces_ctx_key(key->tgid, key->tid));
}

static __always_inline void worker_unpublish(struct worker *w, const struct worker_key *key)
{
	worker_hide(w, key, *(const volatile __u64 *)&w->published);
}

/* Its request is over: back to the one that it was at before, if that is certain. */
static __always_inline void worker_restore(struct worker *w, const struct worker_key *key,
					   __u64 ended)
{
	__u64 id = w->flags & (WORKER_LOOP | WORKER_MAYBE) ? 0 : worker_only(w);
	const struct request *r = request_lookup(id);

	if (w->published != ended)
		return;
	if (r && !key->context)
		worker_publish(w, key, id, r);
	else
		worker_hide(w, key, ended);
}

static __always_inline __u64 worker_key_thread(const struct worker_key *key)
{
	__u64 thread;

	__builtin_memcpy(&thread, key, sizeof(thread));
	return thread;
}

/*
 * A thread has got work of a request from the one that has read it: it is shown with that, too,
 * until it is done or the request is over. A request has room for one such thread.
 */
static __always_inline void request_help(struct request *r, __u64 id, struct worker *w,
					 const struct worker_key *key)
{
	if (!__sync_val_compare_and_swap(&r->helper_thread, 0, worker_key_thread(key)))
		worker_publish(w, key, id, r);
}

/* The thread is done. */
static __always_inline void request_helped(struct worker *w, const struct worker_key *key)
{
	__u64 id = *(const volatile __u64 *)&w->published;
	struct request *r = request_lookup(id);

	worker_hide(w, key, id);
	if (r)
		__sync_val_compare_and_swap(&r->helper_thread, worker_key_thread(key), 0);
}

static __always_inline struct worker_key thread_worker_key(__u64 thread)
{
	struct worker_key key = {};

	__builtin_memcpy(&key, &thread, sizeof(thread));
	return key;
}

static __always_inline void request_end_helper(const struct request *r, __u64 id)
{
	struct worker_key key = thread_worker_key(r->helper_thread);
	struct worker *w = r->helper_thread ? worker_lookup(&key) : NULL;

	if (w)
		worker_hide(w, &key, id);
}

/* Is a thread shown with a request for longer than a step? */
static __always_inline int thread_is_shown(const struct worker_key *key)
{
	const struct worker *w = worker_lookup(key);

	return w && w->published;
}

/* The step that a thread was shown with, if it was with one, is over. */
static __always_inline void thread_ends_step(const struct worker_key *key)
{
	__u64 thread = traces_ctx_key(key->tgid, key->tid);
	const struct traces_ctx *shown = traces_lookup(thread);
	struct request *r;

	if (!shown || thread_is_shown(key))
		return;
	r = request_lookup(traces_ctx_span(shown));
	if (r)
		__sync_val_compare_and_swap(&r->shown_thread, worker_key_thread(key), 0);
	traces_unset(thread);
}

/*
 * A thread works on a request from now on, until thread_ends_step(): it is shown with that
 * (`shown`: its ids), unless another thread is at the time. A request has room for one.
 */
static __always_inline void thread_begins_step(const struct worker_key *key, struct request *r,
					       __u64 id, const struct traces_ctx *shown)
{
	__u64 thread = traces_ctx_key(key->tgid, key->tid), own = worker_key_thread(key), was;

	if (thread_is_shown(key))
		return;
	was = __sync_val_compare_and_swap(&r->shown_thread, 0, own);
	if (was && was != own) {
		thread_ends_step(key);
		return;
	}
	traces_set(thread, shown);
	if (request_is_over(r, id))
		traces_unset(thread);
}

static __always_inline void request_end_step(const struct request *r, __u64 id)
{
	struct worker_key key = thread_worker_key(r->shown_thread);
	__u64 thread = traces_ctx_key(key.tgid, key.tid);
	const struct traces_ctx *shown = r->shown_thread ? traces_lookup(thread) : NULL;

	if (shown && traces_ctx_span(shown) == id)
		traces_unset(thread);
}

/*
 * Who responds has mostly just read the answer that it waited for. If a call was begun since then
 * which others might have made, or which it does not wait for, somebody else waited for his turn.
 * `before`: its state when it ended.
 */
static __always_inline void learn_hands_on(const struct worker *w, struct process *p, __u64 id,
					   __u32 before)
{
	if (w->read != id || w->read_by != EVIDENCE_ANSWER)
		return;
	if (w->flags & WORKER_SPENT ||
	    (w->flags & WORKER_GOES_ON && before & (STATE_CALLS | STATE_CONNECTS)))
		process_breaks(p, HABIT_KEEPS_TURN);
}

/* Another request's worker has called for a request, it seems. */
static __always_inline void process_breaks_own(struct process *p)
{
	struct habit *own = &p->habit[HABIT_SERVES_OWN];

	own->kept = 0;
	if (own->broken + SERVES_OWN_WEIGHT <= SERVES_OWN_MOST)
		own->broken += SERVES_OWN_WEIGHT;
}

/* None has, though it might have. */
static __always_inline void process_keeps_own(struct process *p)
{
	struct habit *own = &p->habit[HABIT_SERVES_OWN];

	if (own->broken)
		own->broken--;
	else if (own->kept < SERVES_OWN_SURE)
		own->kept++;
}

/* Has a request a call, or has a worker of its own called (known as its or not)? */
static __always_inline int request_has_called(const struct request *r)
{
	return r->calls || (r->flags & REQUEST_CALLED);
}

/* Another request's worker may have called for one that has not called yet. */
static __always_inline void request_may_be_served(__u64 id)
{
	struct request *r = request_lookup(id);

	if (r && !request_has_called(r) && standing_of(r->state) == STANDING_IDLE)
		__sync_fetch_and_or(&r->flags, REQUEST_SERVED);
}

/* Request `r` has ended, for which that may have been so: it was if it had no call of its own. */
static __always_inline void learn_served(const struct request *r, struct process *p)
{
	if (!p || !(r->flags & REQUEST_SERVED))
		return;
	if (request_has_called(r))
		process_keeps_own(p);
	else
		process_breaks_own(p);
}

/*
 * Is nothing left to be known of a worker when its request is over? Nobody sees virtual threads of
 * Java end, and there is a new one for each request, mostly. Nor is there room for all goroutines
 * and the like that have ever had one (`p`: their process, or NULL).
 */
static __always_inline int worker_ends_with_request(const struct worker_key *key,
						    const struct worker *w, const struct process *p)
{
	if (key->tid || tally_open(&w->tally))
		return 0;
	return (key->context & JAVA_VIRTUAL) || (p && p->workers.taken > process_workers_kept());
}

/* A request is over; whichever object stood for it stands for nothing. */
static __always_inline void request_lacks_object(struct request *r, struct process *p)
{
	if (!(r->flags & REQUEST_OBJECT))
		return;
	if (__sync_fetch_and_and(&r->flags, ~REQUEST_OBJECT) & REQUEST_OBJECT)
		__sync_fetch_and_sub(&p->objects, 1);
}

/* It is known which object of the program stands for request `r`, of this id. */
static __always_inline void request_has_object(struct request *r, __u64 id)
{
	struct process *p = process_lookup(&r->worker.tgid);

	if (!p || __sync_fetch_and_or(&r->flags, REQUEST_OBJECT) & REQUEST_OBJECT)
		return;
	__sync_fetch_and_add(&p->objects, 1);
	if (request_is_over(r, id))
		request_lacks_object(r, p);
}

/*
 * Request `r`, of this id, is over. Returns the one that another process works on for it
 * (engine/peer.h), if there is one, which is over, too.
 */
static __always_inline __u64 request_end(struct request *r, __u64 id)
{
	__u32 before = __sync_fetch_and_or(&r->state, STATE_ENDED);
	struct process *p;
	struct worker *w;

	if (before & STATE_ENDED)
		return 0;
	if (r->request_id && (before & STATE_TAKEN))
		request_ids_remove(id_hash(r->worker.tgid, r->request_id), r->listed, id);
	w = worker_lookup(&r->worker);
	p = process_lookup(&r->worker.tgid);
	if (p) {
		__sync_fetch_and_sub(&p->call_limit.lingering, r->flags / REQUEST_LINGERS);
		__sync_fetch_and_add(&p->call_limit.gone, r->flags / REQUEST_LINGERS);
	}
	tallies_move(w, p, before, STATE_ENDED);
	if (p)
		request_lacks_object(r, p);
	if (before & STATE_CALLS)
		tasks_stray(p);
	if (w && p)
		learn_hands_on(w, p, id, before);
	learn_served(r, p);
	if (w)
		worker_restore(w, &r->worker, id);
	if (w && worker_ends_with_request(&r->worker, w, p))
		worker_delete(&r->worker);
	request_end_helper(r, id);
	request_end_step(r, id);
	return r->peer;
}

/* Its response has begun: it makes no more calls. */
static __always_inline void engine_responds(__u64 id)
{
	struct request *r = request_lookup(id);

	if (r && !(r->state & STATE_RESPONDING))
		request_set(r, STATE_RESPONDING);
}

static __always_inline __u64 engine_end(__u64 id)
{
	struct request *r = request_lookup(id);

	return r ? request_end(r, id) : 0;
}

#endif
