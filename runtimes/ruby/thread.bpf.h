/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that Ruby makes, each for a block of code (Thread.new), on native threads that are used
 * again. The maker's frame has the block and the local variables that it is given; these stand at
 * the beginning of the new thread's stack as long as it runs.
 */
#ifndef CTXPROP_RUNTIMES_RUBY_THREAD_BPF_H
#define CTXPROP_RUNTIMES_RUBY_THREAD_BPF_H

#include "engine/account.h"
#include "runtimes/ruby/maps.bpf.h"
#include "runtimes/ruby/ruby.bpf.h"
#include "runtimes/rule.bpf.h"

#define MAKER_FRAMES 3  /* of Thread.new, written in C, below which the maker's is looked for */
#define GIVEN        1  /* added to the address of local variables that a block was given */
#define GIVEN_WORDS  16 /* of the stack, in which they stand */
#define RUBY_CONDVAR 0x00726176646e6f63ULL /* "condvar" */

static __always_inline struct ruby_thread *ruby_thread_lookup(__u32 tgid, __u64 thread)
{
	struct process_address at = {.tgid = tgid, .address = thread};

	return ruby_threads_lookup(&at);
}

/*
 * Does the thread of Ruby with this context run on this native thread? (Ruby 3.3 on; before it has
 * other things at these places, none of which is a thread pointer.)
 */
VERIFIED_ALONE int ruby_runs_on(__u64 context, __u64 thread)
{
	__u64 native = user_read(user_read(context + RUBY_CONTEXT_OWNER) + RUBY_THREAD_NATIVE);

	return user_read(native + RUBY_NATIVE_ID) == thread;
}

/*
 * Where the stack of a thread is; all 0: the thread is over, or in a fiber (before 3.3). The
 * context of one that is over may be that of another one by now, which runs elsewhere.
 */
struct ruby_stack {
	__u64 begin, end, frame;
};

static __always_inline struct ruby_stack ruby_stack_of(const struct runtime *runtime, __u64 thread)
{
	__u64 context = ruby_context_of(runtime, thread);
	struct ruby_stack stack = {.begin = user_read(context + RUBY_CONTEXT_STACK)};

	stack.end = stack.begin + user_read(context + RUBY_CONTEXT_SIZE) * WORD;
	stack.frame = user_read(context + RUBY_CONTEXT_FRAME);
	if (thread - stack.end < RUBY_STACK_DISTANCE_MAX || ruby_runs_on(context, thread))
		return stack;
	return (struct ruby_stack){};
}

/*
 * Does a stack begin with a block that was given these local variables? Without branches, which
 * the verifier would have to follow one by one; as a loop, since side by side the words need more
 * stack than there is.
 */
VERIFIED_ALONE int ruby_stack_runs(__u64 stack, __u64 locals)
{
	__u64 words[USER_CHUNK], others = 1;

	for (int at = 0; stack && at < GIVEN_WORDS; at += USER_CHUNK) {
		if (bpf_probe_read_user(words, sizeof(words), (const void *)(stack + at * WORD)))
			return 0;
#pragma clang loop unroll(disable)
		for (int i = 0; i < USER_CHUNK; i++) {
			__u64 differs = words[i] ^ (locals | GIVEN);

			others &= (differs | -differs) >> 63;
		}
	}
	return !others;
}

/* A thread that this one has made calls. (A function of its own: stacks are small.) */
VERIFIED_ALONE int ruby_made_calls(__u32 tgid, __u64 maker)
{
	struct ruby_thread *known;

	if (!ENGINE_LEARNS)
		return 0;
	known = ruby_thread_lookup(tgid, maker);
	if (known)
		known->called = 1;
	return 0;
}

/*
 * A thread calls: how has what it runs come about? NULL: that was not seen, its request is over, or
 * it fits several requests. Who has made it is told in any case.
 */
static __always_inline struct ruby_start *ruby_thread_start(const struct runtime *runtime,
							    __u32 tgid, __u64 thread,
							    struct ruby_thread *known)
{
	struct ruby_stack stack = ruby_stack_of(runtime, thread);
	struct ruby_start *found = NULL;

	for (int i = 0; i < RUBY_STARTS; i++) {
		struct ruby_start *start = &known->start[i];

		if (!start->locals || !ruby_stack_runs(stack.begin, start->locals))
			continue;
		ruby_made_calls(tgid, start->maker);
		if (request_standing(start->request) == STANDING_NONE)
			continue;
		if (found && found->request != start->request)
			return NULL;
		found = start;
	}
	return found;
}

/* How far has a thread come? Before it begins to run its block, there is but one frame. */
static __always_inline int ruby_has_begun(const struct ruby_stack *stack)
{
	return stack->end - stack->frame > RUBY_FRAME_LARGE;
}

/* Is this a frame, of a thread with this stack? */
static __always_inline int ruby_is_frame(__u64 frame, __u64 stack)
{
	__u64 sp = user_read(frame + RUBY_FRAME_SP);

	return sp >= stack && sp < frame;
}

/* The frame of the code in Ruby that the current function, in C, is called from; or 0. */
static __always_inline __u64 ruby_caller(__u64 frame, __u64 stack)
{
	for (int i = 0; i < MAKER_FRAMES; i++) {
		__u64 next = frame + RUBY_FRAME_LARGE;

		frame = ruby_is_frame(next, stack) ? next : frame + RUBY_FRAME_SMALL;
		if (!ruby_is_frame(frame, stack))
			return 0;
		if (user_read(frame + RUBY_FRAME_CODE))
			return frame;
	}
	return 0;
}

/* The local variables that the block was given with which a stack begins. */
static __always_inline __u64 ruby_given(__u64 context)
{
	__u64 stack = user_read(context + RUBY_CONTEXT_STACK);
	__u64 end = stack + user_read(context + RUBY_CONTEXT_SIZE) * WORD;
	__u64 frame = end - 2 * RUBY_FRAME_SMALL;

	if (!ruby_is_frame(frame, stack))
		frame = end - 2 * RUBY_FRAME_LARGE;
	return user_read(user_read(frame + RUBY_FRAME_LOCALS) - WORD);
}

/*
 * Native threads are used again, and run fibers in turn: what was taken out of a queue is what the
 * current one works on only while the same thread of Ruby, or fiber, is at it. Returns whether it
 * is, or nothing was taken.
 */
VERIFIED_ALONE int ruby_keeps(__u32 tgid, __u64 context)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct worker *w = worker_lookup(&key);
	const struct ruby_thread *known;

	if (!w || !w->queue)
		return 1;
	known = ruby_thread_lookup(tgid, user_thread_pointer());
	if (known && known->context == context && known->locals == ruby_given(context))
		return 1;
	if (!ENGINE_LEARNS)
		return 0;
	w->queue = 0;
	w->item = 0;
	if (w->inherited_by == EVIDENCE_TASK)
		w->inherited = 0;
	return 0;
}

/*
 * The request of what the current thread has taken out of a queue, if that, or a part of it, is
 * still there, and nothing that was taken out for others: it may have been stored, or passed on.
 */
static __always_inline __u64 ruby_taken(const struct worker *w, struct ruby_held held)
{
	if (!w || !w->queue || w->inherited_by != EVIDENCE_TASK)
		return 0;
	return w->inherited == held.item ? held.item : 0;
}

/* The same for a thread that it makes, as long as it has not called itself. */
static __always_inline __u64 ruby_makes_for(__u32 tgid, __u64 context)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct ruby_held held = ruby_holds(tgid, context);
	const struct worker *w;

	if (held.connection)
		return held.connection;
	ruby_keeps(tgid, context);
	w = worker_lookup(&key);
	return w && (w->flags & WORKER_CALLED) ? 0 : ruby_taken(w, held);
}

/* Is the current function, in C, a method of a thread? */
static __always_inline int ruby_is_in_thread(const struct runtime *runtime, __u64 frame)
{
	__u64 self = user_read(frame + RUBY_FRAME_SELF);

	return !user_read(frame + RUBY_FRAME_CODE) && ruby_is_object(self) &&
	       user_read(self + RUBY_OBJECT_CLASS) == user_read(runtime->ruby.thread_class);
}

/*
 * Whether a thread that was made like that may be at another one's request. One that has woken who
 * waited for it may go on with what others wait for; so do threads that stay when a request is
 * over.
 */
static __always_inline enum doubt ruby_doubts(__u32 tgid, const struct ruby_start *start)
{
	if (start->called == RUBY_DONE || rule_denies(tgid, start->block) ||
	    !process_has_habit(process_lookup(&tgid), HABIT_SERVES_OWN))
		return DOUBT_ALL;
	return rule_doubts(tgid, start->block) ? DOUBT_OTHERS : DOUBT_NONE;
}

/* The request that the current thread was made for. */
VERIFIED_ALONE int ruby_was_made_for(__u32 tgid, struct named *ret_named)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	__u64 thread = user_thread_pointer();
	struct ruby_thread *known = ruby_thread_lookup(tgid, thread);
	struct ruby_start *start;

	if (!ret_named || !runtime || !known)
		return 0;
	start = ruby_thread_start(runtime, tgid, thread, known);
	if (!start)
		return 0;
	if (ENGINE_LEARNS && start->called == RUBY_CALLED_NOT)
		start->called = RUBY_CALLED;
	ret_named->request = start->request;
	ret_named->doubtful = ruby_doubts(tgid, start);
	return 0;
}

/* The request that the current thread works on; `held`: the one whose connection it has, or 0. */
static __always_inline struct named ruby_works_on(__u32 tgid, __u64 held)
{
	struct named named = {.request = held};

	if (!named.request)
		ruby_was_made_for(tgid, &named);
	return named;
}

/*
 * Whether the thread with this connection calls for its own request: not once it has an answer
 * where threads do all that waits in a list (learn_served()), unless no other one is open.
 */
static __always_inline enum doubt ruby_doubts_own(__u32 tgid, __u64 held)
{
	const struct process *p = held ? process_lookup(&tgid) : NULL;

	return !process_has_habit(p, HABIT_SERVES_OWN) &&
		       request_standing(held) == STANDING_ANSWERED
		   ? DOUBT_ALL
		   : DOUBT_NONE;
}

/* What is known of a thread, be it nothing yet; NULL: there is no room. */
static __always_inline struct ruby_thread *ruby_thread_make(__u32 tgid, __u64 thread)
{
	struct process_address at = {.tgid = tgid, .address = thread};
	struct ruby_thread *known = ruby_thread_lookup(tgid, thread);
	const struct ruby_thread *blank;
	__u32 zero = 0;

	if (known)
		return known;
	blank = blank_ruby_thread_lookup(&zero);
	if (blank)
		ruby_threads_add(&at, blank);
	return ruby_thread_lookup(tgid, thread);
}

/* A start is remembered once, and anew for each request. */
static __always_inline void ruby_thread_add(struct ruby_thread *thread,
					    const struct ruby_start *start)
{
	const struct ruby_start *last = &thread->start[(thread->starts - 1) & (RUBY_STARTS - 1)];

	if (last->locals == start->locals && last->request == start->request)
		return;
	thread->start[thread->starts & (RUBY_STARTS - 1)] = *start;
	thread->starts++;
}

/*
 * The current thread starts or wakes another: if it has just made it, and has the connection of its
 * own request, or has taken that out of a queue, that works for it, too. One that was made itself
 * may do so for a call that has waited until this thread was done, whoever asked for that.
 */
static __always_inline void ruby_makes(const struct runtime *runtime, __u32 tgid, __u64 thread)
{
	__u64 context = ruby_context(runtime), frame = user_read(context + RUBY_CONTEXT_FRAME);
	struct ruby_stack stack = ruby_stack_of(runtime, thread);
	struct ruby_thread *made, *maker;
	struct ruby_start start = {};

	if (!frame || !ruby_is_in_thread(runtime, frame) || ruby_has_begun(&stack))
		return;
	frame = ruby_caller(frame, user_read(context + RUBY_CONTEXT_STACK));
	made = frame ? ruby_thread_make(tgid, thread) : NULL;
	if (!made)
		return;
	start.request = ruby_makes_for(tgid, context);
	start.maker = user_thread_pointer();
	start.locals = user_read(frame + RUBY_FRAME_LOCALS);
	start.block = user_read(frame + RUBY_FRAME_BLOCK);
	ruby_thread_add(made, &start);
	maker = start.request ? ruby_thread_make(tgid, start.maker) : NULL;
	if (maker)
		maker->made = thread;
}

/* A number for a queue. */
static __always_inline __u32 ruby_queue_number(__u64 queue)
{
	return queue / WORD;
}

/*
 * The current thread wakes another one: to tell it something? It does if it is in a method of a
 * condition variable, or at the queue that it has put something into. (Who waits by a condition
 * variable is in a method of its mutex.) Else it may just let another one have the interpreter's
 * lock.
 */
static __always_inline int ruby_tells(__u32 tgid, __u64 context)
{
	const struct ruby_thread *thread = ruby_thread_lookup(tgid, user_thread_pointer());
	__u64 frame = user_read(context + RUBY_CONTEXT_FRAME);
	__u64 self = user_read(frame + RUBY_FRAME_SELF);

	if (!frame || user_read(frame + RUBY_FRAME_CODE) || !ruby_is_object(self) ||
	    (user_read(self) & RUBY_TYPE_MASK) != RUBY_TYPE_DATA)
		return 0;
	if (thread && thread->puts && thread->puts == ruby_queue_number(self))
		return 1;
	return user_read(user_read(user_read(self + RUBY_DATA_TYPE))) == RUBY_CONDVAR;
}

/*
 * It tells the thread that has this request: what it was made for, or has taken out of a queue for,
 * that one is done, if it has called.
 */
static __always_inline void ruby_has_done(__u32 tgid, __u64 request)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct ruby_thread *thread = ruby_thread_lookup(tgid, user_thread_pointer());
	struct worker *w = worker_lookup(&key);

	if (!request)
		return;
	if (w && (w->flags & WORKER_CALLED) && w->queue && w->inherited == request)
		w->flags |= WORKER_DONE;
	for (int i = 0; thread && i < RUBY_STARTS; i++)
		if (thread->start[i].request == request && thread->start[i].called)
			thread->start[i].called = RUBY_DONE;
}

/*
 * The current thread wakes another one. Returns whether it tells it something. Who has got an
 * answer, for his own request, may have called for that one's.
 */
static __always_inline int ruby_wakes(const struct runtime *runtime, __u32 tgid, __u64 thread)
{
	__u64 context = ruby_context(runtime), request, own;

	if (!ruby_tells(tgid, context))
		return 0;
	request = ruby_holds(tgid, ruby_context_of(runtime, thread)).connection;
	own = request ? ruby_holds(tgid, context).connection : 0;
	ruby_has_done(tgid, request);
	if (own && own != request && request_standing(own) == STANDING_ANSWERED)
		request_may_be_served(request);
	return 1;
}

/*
 * A thread takes something out of a queue that was put in for `request` (0: not known for what).
 * If it was made for another one, it is at that no more.
 */
static __always_inline void ruby_leaves_maker(struct ruby_thread *thread, __u64 request)
{
	for (int i = 0; i < RUBY_STARTS; i++) {
		if (thread->start[i].request == request)
			continue;
		if (request)
			thread->start[i].request = 0;
		else
			thread->start[i].called = RUBY_DONE;
	}
}

/*
 * The current thread is done with a request: it begins the response, or asks a queue for the next.
 * Are threads that it has made for the request over before that?
 */
static __always_inline void ruby_is_done(const struct runtime *runtime, __u32 tgid, __u64 request)
{
	struct ruby_thread *maker = ruby_thread_lookup(tgid, user_thread_pointer());
	const struct ruby_thread *made = maker ? ruby_thread_lookup(tgid, maker->made) : NULL;
	struct ruby_stack stack;

	if (!made)
		return;
	stack = ruby_stack_of(runtime, maker->made);
	for (int i = 0; i < RUBY_STARTS; i++)
		if (made->start[i].called && made->start[i].request == request)
			rule_learn(tgid, made->start[i].block,
				   !ruby_stack_runs(stack.begin, made->start[i].locals));
	maker->made = 0;
}

#endif
