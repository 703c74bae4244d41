/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which context of Python (contextvars) is at work, and for which request. Every callback of an
 * event loop runs in a context: each task in one of its own, which is copied from that of its
 * maker; what a transport reads is read in one that belongs to the transport.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_TASK_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_TASK_BPF_H

#include "compat.bpf.h"
#include "engine/learns.h"
#include "engine/maps.bpf.h"
#include "runtimes/python/maps.bpf.h"
#include "runtimes/rule.bpf.h"
#include "runtimes/runtime.bpf.h"
#include "engine/standing.h"
#include "runtimes/python/state.bpf.h"
#include "probes/turn.bpf.h"
#include "probes/user.bpf.h"

/*
 * Address of the context that the current thread has entered; 0: none, or it cannot be told.
 * (The one that a thread begins with was not entered: there is none before it.)
 */
static __always_inline __u64 task_current(const struct runtime *runtime)
{
	__u64 state = task_thread_state(runtime), context;

	if (!state)
		return 0;
	context = user_read(state + runtime->python.context_offset);
	return context && user_read(context + PYTHON_CONTEXT_BEFORE) ? context : 0;
}

static __always_inline int task_has(const struct runtime *runtime, __u64 task, __u64 context)
{
	return task && user_read(task + runtime->python.task_offset) == context;
}

/* The task that has this context and waits by this function; 0: it is no task. */
static __always_inline __u64 task_that_waits(const struct runtime *runtime, __u64 function,
					     __u64 context)
{
	__u64 task = user_read(function + PYTHON_FUNCTION_SELF);

	if (task_has(runtime, task, context))
		return task;
	task = user_read(function + PYTHON_WAKEUP_TASK);
	return task_has(runtime, task, context) ? task : 0;
}

/* What is known of the task whose context this is; NULL: nothing, or it is over. */
static __always_inline struct task *task_lookup(const struct runtime *runtime,
						const struct worker_key *key)
{
	struct task *task = tasks_lookup(key);

	if (!task || (task->flags & TASK_CALLBACK))
		return NULL;
	return task_has(runtime, task->address, key->context) ? task : NULL;
}

/* Has a task no request, and was it never woken for one? Then no more is known than where it is. */
static __always_inline int task_is_blank(const struct task *task)
{
	return !task->request && !(task->flags & TASK_WOKEN);
}

/* The task that made this one; NULL: none did, or it is over. */
static __always_inline struct task *task_maker(const struct runtime *runtime, __u32 tgid,
					       const struct task *task)
{
	struct worker_key key = {.tgid = tgid, .context = task->maker};
	struct task *maker = key.context ? task_lookup(runtime, &key) : NULL;

	return maker && maker->made_ns == task->maker_made_ns ? maker : NULL;
}

/* Does the maker of a task wait for something, and is it the same task still? */
static __always_inline int task_maker_waits(const struct runtime *runtime, __u32 tgid,
					    const struct task *task)
{
	const struct task *maker = task_maker(runtime, tgid, task);

	return maker && user_read(maker->address + runtime->python.task_offset - PYTHON_TASK_WAITS);
}

/*
 * Is a task at work within a step of its maker's? Since 3.12 tasks may begin at once (eager_start).
 * Then its context was entered where its maker's was current.
 */
static __always_inline int task_is_within(const struct runtime *runtime, const struct task *task)
{
	__u64 context = user_read(task->address + runtime->python.task_offset);

	return task->maker && context && user_read(context + PYTHON_CONTEXT_BEFORE) == task->maker;
}

/* Is it a function of C's, or a method of an object that is implemented in C? */
static __always_inline int task_is_builtin(__u64 function)
{
	__u64 name = user_read(user_read(function + PYTHON_TYPE) + PYTHON_TYPE_NAME);

	return user_read(name) == BUILTIN_FUNCTION;
}

/*
 * Does nobody wait for the end of a task? Who does is called back then: a task itself (`await`), or
 * functions of gather(), TaskGroup and the like. That it is taken out of a set (discard()), in
 * which it stands as long as it is at work, is no waiting.
 */
static __always_inline int task_is_let_go(const struct runtime *runtime, const struct task *task)
{
	__u64 callback = user_read(task->address + PYTHON_FUTURE_WAITER);
	__u64 context = user_read(task->address + PYTHON_FUTURE_CONTEXT);

	if (!callback)
		return 1;
	return task_is_builtin(callback) && !user_read(task->address + PYTHON_FUTURE_OTHERS) &&
	       !task_that_waits(runtime, callback, context);
}

/*
 * A task that was made by another one begins to work. Who makes a task for its own request waits
 * for it, mostly. Who is over by now, or lets it go, may have made it for a request that stood in a
 * queue: clients do that where calls wait for connections. Who is at it has had no time to wait,
 * and who lets others have their turn first (anyio does, before it waits) does not wait yet: that
 * is seen later.
 */
static __always_inline __u32 task_settled(const struct runtime *runtime, __u32 tgid,
					  const struct task *task)
{
	if (!task->maker || (task->flags & TASK_AWAITED) || task_is_within(runtime, task))
		return task->flags;
	if (task_maker_waits(runtime, tgid, task) && !task_is_let_go(runtime, task))
		return (task->flags & ~TASK_ORPHAN) | TASK_AWAITED;
	return task->flags | TASK_ORPHAN;
}

/* The flags of the task by then, which are kept. */
static __always_inline __u32 task_settle(const struct runtime *runtime, __u32 tgid,
					 struct task *task)
{
	__u32 flags = task_settled(runtime, tgid, task);

	if (ENGINE_LEARNS)
		task->flags = flags;
	return flags;
}

#define TASK_MAKERS 8 /* so many are asked, each for the one that it has made */

/*
 * May a task have been made for another request than its maker's, or that one? What was so when a
 * maker made the next one is asked again as long as that maker is there.
 */
VERIFIED_ALONE int task_is_orphan(__u32 tgid, struct task *task)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	for (int i = 0; i < TASK_MAKERS && runtime && task; i++) {
		__u32 flags = task_settle(runtime, tgid, task);

		if (flags & TASK_ORPHAN)
			return 1;
		if (!(flags & TASK_OF_ORPHAN))
			return 0;
		task = task_maker(runtime, tgid, task);
	}
	return 1;
}

/* A task calls, or connects: within a step of its maker's? Then both are looked at once more. */
static __always_inline void task_begins(const struct runtime *runtime, __u32 tgid,
					struct task *task)
{
	struct task *maker;

	task->flags |= TASK_CALLED;
	if (!task_is_within(runtime, task))
		return;
	task->flags |= TASK_EAGER;
	maker = task_maker(runtime, tgid, task);
	if (maker)
		maker->flags |= TASK_THROUGH;
}

/*
 * A task is woken that has called within a step of its maker's, or through such a one: it has
 * waited, as the rule says. Does its own maker wait?
 */
static __always_inline void task_has_waited(const struct runtime *runtime, __u32 tgid,
					    struct task *task)
{
	__u32 before = task->flags;
	struct task *maker;

	if (!(before & (TASK_EAGER | TASK_THROUGH)))
		return;
	task_settle(runtime, tgid, task);
	if (!(before & TASK_ORPHAN))
		rule_learn(tgid, TASK_RULE_EAGER, !(task->flags & TASK_ORPHAN));
	task->flags &= ~(TASK_EAGER | TASK_THROUGH);
	maker = before & TASK_EAGER ? task_maker(runtime, tgid, task) : NULL;
	if (maker)
		maker->flags &= ~TASK_THROUGH;
}

#define RESPONDS 2 /* added to the address of what names a function: a rule about coroutines */

/* What the function of a task's coroutine is known by, as the number of a rule. */
static __always_inline __u64 task_function(const struct runtime *runtime, const struct task *task)
{
	__u64 coroutine = user_read(task->address + runtime->python.task_offset - PYTHON_TASK_CORO);

	return user_read(coroutine +
			 (runtime->python.frames.owner ? PYTHON_CORO_NAME : PYTHON_CORO_CODE)) +
	       RESPONDS;
}

/*
 * May a task be for something else than the request which it is believed to be made for, late? It
 * is not if it is what those do that are made at once, and that respond.
 */
static __always_inline int task_is_odd(const struct runtime *runtime, __u32 tgid,
				       const struct task *task)
{
	return (task->flags & TASK_LATE) && !start_lookup(tgid, task_function(runtime, task));
}

/* Does a task wait for this one, and for nothing else, that works for the same request? */
static __always_inline int task_is_awaited(const struct runtime *runtime, __u32 tgid,
					   const struct task *task)
{
	struct worker_key key = {.tgid = tgid,
				 .context = user_read(task->address + PYTHON_FUTURE_CONTEXT)};
	const struct task *waiter = key.context ? task_lookup(runtime, &key) : NULL;

	return waiter && waiter->request == task->request &&
	       user_read(waiter->address + runtime->python.task_offset - PYTHON_TASK_WAITS) ==
		   task->address;
}

/*
 * May a task that was made for a request work for another one by now? What it calls may have waited
 * for its turn in a list, whoever asked for it: so for calls others must have been seen to call,
 * and to be over before their requests. What it works on besides is its own where somebody waits
 * for it, where such as it respond to requests, or where others were over before their requests.
 */
static __always_inline int task_doubts_maker(const struct runtime *runtime, __u32 tgid,
					     const struct task *task)
{
	if (!rule_doubts(tgid, TASK_RULE_MADE))
		return 0;
	if (ENGINE_LEARNS || rule_denies(tgid, TASK_RULE_MADE))
		return 1;
	return !task_is_awaited(runtime, tgid, task) && rule_doubts(tgid, TASK_RULE_KEPT) &&
	       (!(task->flags & TASK_FIRST) || rule_doubts(tgid, task_function(runtime, task)));
}

/* What a task works on that has read no request itself. */
static __always_inline struct named task_given(const struct runtime *runtime, __u32 tgid,
					       struct task *task)
{
	struct named named = {.request = task->request};

	if (!named.request || (task->flags & TASK_SHARED) || task_is_odd(runtime, tgid, task))
		return (struct named){};
	if (!request_lookup(named.request)) {
		if (task->flags & TASK_MADE)
			rule_learn(tgid, TASK_RULE_MADE, 0);
		if (ENGINE_LEARNS)
			task->request = 0;
		return (struct named){};
	}
	if ((task->flags & TASK_WOKEN) && rule_denies(tgid, TASK_RULE_WOKEN))
		return (struct named){};
	if (task_is_orphan(tgid, task))
		named.doubtful = DOUBT_ALL;
	else if (((task->flags & TASK_WOKEN) && rule_doubts(tgid, TASK_RULE_WOKEN)) ||
		 ((task->flags & TASK_MADE) && task_doubts_maker(runtime, tgid, task)) ||
		 (task_is_within(runtime, task) && rule_doubts(tgid, TASK_RULE_EAGER)))
		named.doubtful = DOUBT_OTHERS;
	return named;
}

/*
 * The request that the current thread has read in this turn, if libuv has called back once since
 * then: for what was read. (It reads before it calls back, and in no context.)
 */
static __always_inline __u64 task_is_given(const struct worker_key *key)
{
	struct worker_key thread = {.tgid = key->tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct worker *w = worker_lookup(&thread);

	if (!w || w->called_back != CALLED_BACK_TO_READ || w->read_by != EVIDENCE_LOOP ||
	    !turn_goes_on(&w->turn))
		return 0;
	return request_standing(w->read) == STANDING_NONE ? 0 : w->read;
}

/*
 * The request that a context has read itself, or was given. If it is not known to be that of a task
 * with requests, only in the turn in which it was read: its memory may be that of another one
 * later, and others may go on with it.
 */
static __always_inline __u64 task_reads(const struct worker_key *key, const struct task *task)
{
	const struct worker *w = worker_lookup(key);
	int has = task && !task_is_blank(task);
	__u64 own = w && (has || turn_surely_goes_on(&w->turn)) ? worker_only(w) : 0;

	return own || has ? own : task_is_given(key);
}

/* The request that a context works on: it has read it, or its task was woken or made for it. */
static __always_inline struct named task_request(const struct runtime *runtime,
						 const struct worker_key *key, struct task *task)
{
	struct named own = {.request = task_reads(key, task)};

	return own.request || !task ? own : task_given(runtime, key->tgid, task);
}

/* The same, for one that calls or connects. */
static __always_inline struct named task_calls(const struct runtime *runtime,
					       const struct worker_key *key)
{
	struct task *task = task_lookup(runtime, key);

	if (ENGINE_LEARNS && task && !task_is_blank(task))
		task_begins(runtime, key->tgid, task);
	return task_request(runtime, key, task);
}

/*
 * A task begins the response to a request: it, or one that it was made by, does what is done for
 * requests, if that was made by who has read it, or late, for just this request.
 */
VERIFIED_ALONE int task_is_seen_to_respond(__u32 tgid, const struct task *task, __u64 request)
{
	const struct runtime *runtime = runtime_lookup(tgid);

	for (int i = 0; i < TASK_MAKERS && runtime && task && task->request == request; i++) {
		if (task->flags & (TASK_FIRST | TASK_LATE)) {
			rule_learn(tgid, task_function(runtime, task), 1);
			return 0;
		}
		task = task_maker(runtime, tgid, task);
	}
	return 0;
}

/*
 * The request that a context's task is for, whether that is believed or not; 0: it has none. It
 * begins the response to `request`.
 */
static __always_inline __u64 task_is_for(const struct runtime *runtime,
					 const struct worker_key *key, __u64 request)
{
	const struct task *task = task_lookup(runtime, key);

	if (!task)
		return 0;
	task_is_seen_to_respond(key->tgid, task, request);
	return task->request;
}

/*
 * A response is begun by a task that is for request `by`: if somebody was woken for the request
 * which it answers, is it he, or one that he has made, who does?
 */
static __always_inline void task_responds(__u32 tgid, __u64 by, __u64 request)
{
	const struct request *r = request_lookup(request);

	if (r && (r->flags & REQUEST_WOKE))
		rule_learn(tgid, TASK_RULE_WOKEN, by == request);
}

#endif
