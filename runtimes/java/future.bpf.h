/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which request a thread of Java works on that has read none itself: that of the thread which
 * waits for what it does, or which has made the future that it is at work on.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_FUTURE_BPF_H
#define CTXPROP_RUNTIMES_JAVA_FUTURE_BPF_H

#include "runtimes/java/job.bpf.h"
#include "runtimes/java/maps.bpf.h"
#include "runtimes/java/task.bpf.h"
#include "runtimes/java/virtual.bpf.h"

/* A search among the threads that have read requests. */
struct java_search {
	const struct runtime_java *java;
	const struct java_readers *readers;
	const struct java_futures *futures; /* NULL: for who waits only */
	__u64 object;                       /* of the current thread */
	__u64 found;
	__u32 tgid;
	__u32 idle;    /* requests that could begin a call now, of all that were looked at */
	__u8 several;  /* 1: more than one request fits */
	__u8 awaited;  /* 1: some thread waits for the current one */
	__u8 doubtful; /* 1: others may do so, too */
	__u8 faithful; /* 1: who makes a future is who waits for it, as has been seen */
	__u8 given;    /* 1: a virtual thread has given it to do */
	__u8 unproven; /* 1: in a way that was not seen to be followed by waiting for it */
	__u8 reserved[2];
};

static __always_inline void java_search_finds(struct java_search *search, __u64 request)
{
	search->several |= search->found && search->found != request;
	search->found = request;
}

static __always_inline void java_search_awaited(struct java_search *search, __u64 request)
{
	search->awaited = 1;
	java_search_finds(search, request);
}

/* Has the thread made something that the current one is at work on, and waits for nothing else? */
static __always_inline int java_has_asked(const struct java_search *search,
					  const struct java_reader *reader, __u64 thread,
					  __u64 awaited)
{
	const struct runtime_java *java = search->java;
	struct java_made made = java_made_by(java, reader);
	int has = 0;

	for (int i = 0; i < JAVA_FUTURES; i++)
		has |= java_is_among(&made, search->futures->future[i]);
	if (!has)
		return 0;
	return awaited ? java_is_among(&made, awaited) : !user_read_narrow(thread + java->blocker);
}

/*
 * May it wait for what the current thread does, in some way that cannot be seen? What nobody is at
 * work on yet may be told a result that another thread has got. Who does not wait yet may have put
 * it into a list.
 */
static __always_inline int java_may_wait(const struct java_search *search,
					 const struct java_reader *reader, __u64 thread,
					 __u64 awaited)
{
	const struct runtime_java *java = search->java;

	if (awaited)
		return !search->faithful && !user_read_narrow(awaited + java->runner);
	return !search->faithful || user_read_narrow(thread + java->blocker) ||
	       user_read(reader->thread + java->enters) || user_read(reader->thread + java->waits);
}

static __always_inline void java_search_reader(struct java_search *search,
					       const struct java_reader *reader, __u64 request)
{
	const struct runtime_java *java = search->java;
	__u64 thread = java_object(java, reader->thread);
	__u64 awaited = java_awaits(java, thread);
	int may_call;

	if (thread == search->object)
		return;
	if (awaited && java_refers(java, awaited, java->runner) == search->object) {
		java_search_awaited(search, request);
		return;
	}
	if (!search->futures)
		return;
	if (search->futures->wanted == JAVA_FUTURES_NONE) {
		if (java_refers(java, thread, java->blocker) == search->futures->future[0])
			java_search_awaited(search, request);
		return;
	}
	may_call = standing_may_call(request_standing(request));
	search->idle += may_call;
	if (java_has_asked(search, reader, thread, awaited))
		java_search_finds(search, request);
	else
		search->doubtful |= may_call && java_may_wait(search, reader, thread, awaited);
}

/* As a callback of bpf_loop(). */
static long java_search_step(__u32 index, struct java_search *search)
{
	const struct java_reader *reader = &search->readers->reader[index & (JAVA_READERS - 1)];
	struct worker_key key = {.tgid = search->tgid, .tid = reader->tid};
	const struct worker *w = reader->tid ? worker_lookup(&key) : NULL;
	__u64 request = w ? java_request_of(w) : 0;

	if (request && java_thread_of(search->java, reader->native) == reader->thread)
		java_search_reader(search, reader, request);
	return 0;
}

/* The request of the virtual thread that waits for a future; 0: none does. */
static __always_inline __u64 java_virtual_request(const struct runtime_java *java, __u32 tgid,
						  __u64 future)
{
	__u64 waiter = java_refers(java, future, java->waiters);
	struct worker_key key = {.tgid = tgid};
	const struct worker *w;

	if (!java->waiter || !java_virtual_key(java, java_refers(java, waiter, java->waiter), &key))
		return 0;
	w = worker_lookup(&key);
	return w ? worker_only(w) : 0;
}

/* A virtual thread has given away a future, and does not wait for it yet, as far as is known. */
static __always_inline void java_search_given(struct java_search *search, __u64 future)
{
	const struct java_begun *begun = java_begun_of(search->java, search->tgid, future);

	if (!begun || request_standing(begun->named.request) == STANDING_NONE)
		return;
	search->given = 1;
	search->unproven |= rule_doubts(search->tgid, begun->path);
	java_search_finds(search, begun->named.request);
}

/*
 * Who waits is no thread that has read a request, but may be a virtual one. Not inlined, for the
 * room on the stack.
 */
static __noinline int java_search_virtual(struct java_search *search)
{
	for (int i = 0; i < JAVA_FUTURES; i++) {
		__u64 future = search->futures->future[i];
		__u64 request =
		    future ? java_virtual_request(search->java, search->tgid, future) : 0;

		if (request)
			java_search_awaited(search, request);
		else if (future)
			java_search_given(search, future);
	}
	return 0;
}

/* May what was found be for another request? */
static __always_inline int java_search_doubts(const struct java_search *search)
{
	if (search->awaited)
		return 0;
	if (search->given)
		return search->unproven;
	return search->doubtful || process_may_call(search->tgid) > search->idle;
}

/*
 * Search for who has asked for what the current thread, of this object, does. `futures`: those that
 * it is at work on; NULL: not known. What is found counts only if java_is_at() says so.
 */
VERIFIED_ALONE int java_search_for(__u32 tgid, __u64 object, const struct java_futures *futures,
				   struct named *ret_named)
{
	struct java_search search = {.tgid = tgid, .object = object, .futures = futures};
	const struct runtime *runtime = runtime_lookup(tgid);

	search.readers = java_readers_lookup(&tgid);
	if (!runtime || !ret_named)
		return 0;
	search.java = &runtime->java;
	search.faithful = futures && !rule_doubts(tgid, TASK_RULE_FUTURE);
	if (search.readers)
		bpf_loop(JAVA_READERS, java_search_step, &search, 0);
	if (futures && futures->wanted != JAVA_FUTURES_NONE)
		java_search_virtual(&search);
	if (search.several || !search.found)
		return 0;
	ret_named->request = search.found;
	ret_named->doubtful = java_search_doubts(&search);
	return 0;
}

/* The object of the thread, or of the virtual one, that runs now. */
static __always_inline __u64 java_current(const struct runtime_java *java)
{
	__u64 thread = java_thread_of(java, user_thread_pointer());
	__u64 virtual = java_virtual_object(java, thread);

	return virtual ? virtual : java_object(java, thread);
}

/* Are there classes of futures that tell who is at work on them? */
static __always_inline int java_has_futures(const struct runtime_java *java)
{
	return java->future_class || java->run_class || java->supply_class;
}

/* The request that the current thread of Java works on, which has read none, if java_is_at(). */
VERIFIED_ALONE int java_works_on(__u32 tgid, struct named *ret_named)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	const struct process *p = process_lookup(&tgid);
	struct java_futures futures = {.tgid = tgid};
	__u64 object;

	if (!runtime || !ret_named || !java_has_futures(&runtime->java) || !p ||
	    !tally_open(&p->tally))
		return 0;
	object = java_current(&runtime->java);
	if (!object)
		return 0;
	java_search_for(tgid, object, NULL, ret_named);
	if (ret_named->request)
		return 0;
	java_stack_futures(&futures, object);
	java_job_waiter(&futures);
	if (futures.count && futures.count <= JAVA_FUTURES)
		java_search_for(tgid, object, &futures, ret_named);
	return 0;
}

#define JAVA_LEARNT_EVERY 16 /* on the average; a power of two */

/* Does the virtual thread wait for a future that it has given away for this request, as it should?
 */
VERIFIED_ALONE int java_learns_future(__u32 tgid, __u64 request, __u64 future)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	const struct java_begun *begun;

	if (!runtime)
		return 0;
	begun = java_begun_of(&runtime->java, tgid, future);
	if (begun && begun->named.request == request)
		rule_learn(tgid, begun->path,
			   java_virtual_request(&runtime->java, tgid, future) == request);
	return 0;
}

/* By now the virtual thread that has given away what the current one is at should wait for that. */
VERIFIED_ALONE int java_learns_given(__u32 tgid, __u64 request)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_futures futures = {.tgid = tgid, .wanted = 1};

	if (!runtime)
		return 0;
	java_stack_futures(&futures, java_current(&runtime->java));
	for (int i = 0; i < JAVA_FUTURES; i++)
		if (futures.future[i])
			java_learns_future(tgid, request, futures.future[i]);
	return 0;
}

/*
 * The answer to a call is read by a thread of Java, which made it for this request, as a future has
 * told: by now the thread with the request should wait for that. (Unless that one is itself, or has
 * given away the job that the call was made in.)
 */
static __always_inline void java_answer_begins(const struct runtime *runtime, __u32 tgid,
					       __u64 request)
{
	const struct request *r = request_lookup(request);
	struct named named = {}, given = {};

	if (!r || r->worker.tid == (__u32)bpf_get_current_pid_tgid())
		return;
	if (r->worker.context) {
		java_learns_given(tgid, request);
		return;
	}
	if (!rule_doubts(tgid, TASK_RULE_FUTURE) &&
	    (bpf_get_prandom_u32() & (JAVA_LEARNT_EVERY - 1)))
		return;
	java_search_for(tgid, java_current(&runtime->java), NULL, &named);
	if (!named.request && java_task_of(tgid, &given))
		return;
	rule_learn(tgid, TASK_RULE_FUTURE, named.request == request && java_is_at(tgid, request));
}

#endif
