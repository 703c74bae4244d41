/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What threads of Ruby put into queues (Thread::Queue, Thread::SizedQueue) and take out of them.
 * Whatever waits in a queue is known by its number: queues keep their order, and the array that
 * has the items tells how many there are.
 */
#ifndef CTXPROP_RUNTIMES_RUBY_QUEUE_BPF_H
#define CTXPROP_RUNTIMES_RUBY_QUEUE_BPF_H

#include "engine/queue.h"
#include "runtimes/ruby/maps.bpf.h"
#include "runtimes/ruby/thread.bpf.h"

/* What is known of a queue, be it nothing yet; NULL: there is no room. */
static __always_inline struct ruby_queue *ruby_queue_make(__u32 tgid, __u64 queue)
{
	struct process_address at = {.tgid = tgid, .address = queue};
	struct ruby_queue none = {}, *known = ruby_queues_lookup(&at);

	if (known)
		return known;
	ruby_queues_add(&at, &none);
	return ruby_queues_lookup(&at);
}

static __always_inline __u64 ruby_array_length(__u64 array)
{
	__u64 flags = user_read(array);

	return flags & RUBY_ARRAY_WITHIN ? flags >> RUBY_ARRAY_SHIFT & RUBY_ARRAY_MASK
					 : user_read(array + RUBY_ARRAY_LENGTH);
}

static __always_inline __u64 ruby_array_first(__u64 array)
{
	if (user_read(array) & RUBY_ARRAY_WITHIN)
		return user_read(array + RUBY_ARRAY_ITEMS);
	return user_read(user_read(array + RUBY_ARRAY_POINTER));
}

/* Has the current thread taken this item out of this queue, not long ago? */
static __always_inline int ruby_has_taken(__u32 tgid, __u64 queue, __u64 item)
{
	const struct ruby_thread *thread = ruby_thread_lookup(tgid, user_thread_pointer());

	for (int i = 0; thread && i < RUBY_TAKEN_LAST; i++)
		if (thread->taken[i].queue == queue && thread->taken[i].item == item)
			return 1;
	return 0;
}

/* Does it put that back? Then the queue holds things to use. */
static __always_inline int ruby_is_put_back(struct ruby_queue *known, struct worker *w, __u32 tgid,
					    __u64 queue, __u64 item)
{
	if (!ruby_has_taken(tgid, queue, item))
		return 0;
	known->flags |= RUBY_QUEUE_LENDS;
	if (w && w->queue == queue)
		w->queue = 0;
	return 1;
}

/*
 * Which request the current thread puts something into a queue for; 0: it is not certain. It may be
 * for a call that has waited for its turn once that was seen in this process (puts_next()).
 */
static __always_inline __u64 ruby_request_put(struct worker *w, struct process *p,
					      struct named named, struct ruby_held held,
					      __u64 queue)
{
	int next = (w && puts_next(w, p, queue)) || !process_has_habit(p, HABIT_QUEUES_OWN);
	__u64 request = named.request;

	if (p && named.doubtful == DOUBT_ALL && tally_open(&p->tally) > 1)
		return 0;

	if (!request && w)
		request = queue_put(w, p, queue);
	if (request && !named.request && w && w->queue && request == w->inherited &&
	    !ruby_taken(w, held))
		return 0;
	if (request && (next || named.doubtful) && process_has_others(p, request_standing(request)))
		return 0;
	return request;
}

/*
 * Who puts something into another queue than his work comes from, after a call, may have told by
 * that that he is done, and may go on with what others wait for. (Whom that wakes is not always
 * seen: one of the threads that wait may wait for signals, too.)
 */
static __always_inline void ruby_puts_result(struct worker *w, struct ruby_thread *thread,
					     __u64 queue)
{
	if (w && (w->flags & WORKER_CALLED) && w->queue && w->queue != queue)
		w->flags |= WORKER_DONE;
	for (int i = 0; thread && i < RUBY_STARTS; i++)
		if (thread->start[i].called)
			thread->start[i].called = RUBY_DONE;
}

/* The current thread puts an item into a queue, as the last one. Returns for which request. */
VERIFIED_ALONE __u64 ruby_puts(__u32 tgid, __u64 context, __u64 queue, __u64 item)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct ruby_queue *known = ruby_queue_make(tgid, queue);
	struct ruby_thread *thread;
	struct ruby_held held;
	struct worker *w;
	__u64 request;

	if (!runtime_lookup(tgid) || !known)
		return 0;
	thread = ruby_thread_make(tgid, user_thread_pointer());
	if (thread)
		thread->puts = ruby_queue_number(queue);
	held = ruby_holds(tgid, context);
	ruby_keeps(tgid, context);
	w = worker_lookup(&key);
	if ((known->flags & RUBY_QUEUE_LENDS) || ruby_is_put_back(known, w, tgid, queue, item))
		return 0;
	request = ruby_request_put(w, process_lookup(&tgid), ruby_works_on(tgid, held.connection),
				   held, queue);
	ruby_puts_result(w, thread, queue);
	return request;
}

/*
 * Who takes one item after another without a call in between, by itself or a thread that it makes,
 * may call for any of them later: from then on nothing that comes out of the queue says anything.
 */
static __always_inline void ruby_learn_heaps(struct ruby_queue *known, const struct worker *w,
					     const struct ruby_thread *thread, __u64 queue)
{
	if (w->queue == queue && !(w->flags & WORKER_CALLED) && !thread->called)
		known->flags |= RUBY_QUEUE_HEAPS;
}

/* An object was taken out of a queue for a request. */
static __always_inline void ruby_keep(__u32 tgid, __u64 address, __u64 request)
{
	struct process_address at = {.tgid = tgid, .address = address};
	struct object now = {.request = request, .item = OBJECT_ITEM}, *old;

	if (!ruby_is_object(address))
		return;
	old = object_lookup(&at);
	if (old && !old->item && request_standing(old->request) != STANDING_NONE)
		return; /* a connection */
	now.shared =
	    old && old->request != request && request_standing(old->request) != STANDING_NONE;
	object_set(&at, &now);
}

/* So was an item, of which the parts may be all that is kept. */
VERIFIED_ALONE int ruby_keep_item(__u32 tgid, __u64 item, __u64 request)
{
	__u64 parts = item + RUBY_ARRAY_ITEMS, count;

	ruby_keep(tgid, item, request);
	if (!ruby_is_object(item) || (user_read(item) & RUBY_TYPE_MASK) != RUBY_TYPE_ARRAY)
		return 0;
	count = ruby_array_length(item);
	if (!(user_read(item) & RUBY_ARRAY_WITHIN))
		parts = user_read(item + RUBY_ARRAY_POINTER);
	for (__u64 i = 0; i < RUBY_PARTS; i++)
		if (i < count)
			ruby_keep(tgid, user_read(parts + i * WORD), request);
	return 0;
}

/* Does a thread's work not come from the queue that it has used first, as it seemed? */
static __always_inline int ruby_is_lent(__u32 tgid, const struct worker *w)
{
	struct process_address at = {.tgid = tgid, .address = w->queue};
	const struct ruby_queue *known = ruby_queues_lookup(&at);

	return known && (known->flags & RUBY_QUEUE_LENDS);
}

/* The current thread has taken an item out of a queue, which was put in for this request. */
VERIFIED_ALONE int ruby_takes(__u32 tgid, __u64 context, __u64 queue, __u64 item, __u64 request)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct ruby_thread *thread = ruby_thread_make(tgid, user_thread_pointer());
	struct ruby_queue *known = ruby_queue_make(tgid, queue);
	struct ruby_taken *taken;
	struct worker *w;

	if (!thread || !known || (known->flags & RUBY_QUEUE_LENDS))
		return 0;
	ruby_keeps(tgid, context);
	taken = &thread->taken[thread->takes++ & (RUBY_TAKEN_LAST - 1)];
	taken->queue = queue;
	taken->item = item;
	thread->context = context;
	thread->locals = ruby_given(context);
	if (ruby_holds(tgid, context).connection)
		return 0; /* it has a request, and takes what others have done for that */
	ruby_leaves_maker(thread, request);
	w = worker_make(&key);
	if (!w)
		return 0;
	if (w->queue != queue && ruby_is_lent(tgid, w))
		w->queue = 0;
	ruby_learn_heaps(known, w, thread, queue);
	thread->called = 0;
	if (known->flags & (RUBY_QUEUE_LENDS | RUBY_QUEUE_HEAPS))
		request = 0;
	queue_take(w, process_lookup(&tgid), queue, item, request);
	if (w->inherited)
		ruby_keep_item(tgid, item, w->inherited);
	return 0;
}

/*
 * Until a thread was seen to call, and to ask the queue for more then, what comes out of it may be
 * something to use (a connection), which is put back when that was used.
 */
static __always_inline void ruby_learn_works(__u32 tgid, const struct worker *w,
					     const struct ruby_thread *thread)
{
	struct process_address at = {.tgid = tgid, .address = w->queue};
	struct ruby_queue *known = ruby_queues_lookup(&at);

	if (known && ((w->flags & WORKER_CALLED) || (thread && thread->called)))
		known->flags |= RUBY_QUEUE_WORKS;
}

/*
 * The current thread asks a queue for the next item: what it has taken out before, it is done with,
 * and so should be the threads that it has made for that.
 */
VERIFIED_ALONE int ruby_asks(__u32 tgid, __u64 queue)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct runtime *runtime = runtime_lookup(tgid);
	struct ruby_thread *thread = ruby_thread_lookup(tgid, user_thread_pointer());
	struct worker *w = worker_lookup(&key);

	if (thread)
		thread->puts = 0;
	if (!w || !runtime || w->queue != queue || w->inherited_by != EVIDENCE_TASK)
		return 0;
	ruby_learn_works(tgid, w, thread);
	if (w->inherited)
		ruby_is_done(runtime, tgid, w->inherited);
	w->inherited = 0;
	return 0;
}

#endif
