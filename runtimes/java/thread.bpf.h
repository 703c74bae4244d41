/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a thread of Java was made to do: has it been given something of its own, or may it go for
 * whatever waits somewhere?
 */
#ifndef CTXPROP_RUNTIMES_JAVA_THREAD_BPF_H
#define CTXPROP_RUNTIMES_JAVA_THREAD_BPF_H

#include "runtimes/java/frame.bpf.h"
#include "runtimes/rule.bpf.h"

#define JAVA_GIVEN  8  /* fields of 4 bytes that are looked at */
#define JAVA_JOBS   12 /* where the thread itself is looked for */
#define JAVA_HEADER 12 /* bytes of an object before its fields */

/* Has a thread of another request been given the same? From now on it is this one's. */
static __always_inline int java_is_given_again(const struct worker_key *key, __u32 what,
					       __u64 request)
{
	struct process_address at = {.tgid = key->tgid, .address = what};
	struct argument now = {.request = request, .tid = key->tid};
	const struct argument *old = argument_lookup(&at);
	int again = old && old->request != request;

	if (ENGINE_LEARNS)
		argument_set(&at, &now);
	return again;
}

/* The Runnable that a thread was given; 0: none, its class is one of its own. */
static __always_inline __u64 java_given(const struct runtime_java *java)
{
	__u64 object = java_object(java, java_thread_of(java, user_thread_pointer()));

	if (java->holder)
		object = java_refers(java, object, java->holder);
	return java->task ? java_refers(java, object, java->task) : 0;
}

/*
 * Does the Runnable that the current thread was given refer to the thread? Then it belongs to the
 * thread, and gets its jobs one by one (ThreadPoolExecutor's workers do).
 */
VERIFIED_ALONE int java_takes_jobs(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	__u64 given, end;
	__u32 self;

	if (!runtime)
		return 0;
	given = java_given(&runtime->java);
	end = given + java_size(&runtime->java, given);
	self = java_narrow(
	    &runtime->java,
	    java_object(&runtime->java, java_thread_of(&runtime->java, user_thread_pointer())));
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < JAVA_JOBS; i++) {
		__u64 at = given + JAVA_HEADER + i * sizeof(__u32);

		if (given && self && at < end && user_read_narrow(at) == self)
			return 1;
	}
	return 0;
}

/*
 * What was the current thread given, which was made for this request? A Runnable has what it was
 * made with in its fields. Whether that is made for each is learnt by its class.
 */
static __always_inline enum given java_thread_given(const struct runtime *runtime, __u32 tgid,
						    __u64 request)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct runtime_java *java = &runtime->java;
	__u64 given = java_given(java), end = given + java_size(java, given);
	int has = 0, own = 0;

	if (!java->class) /* objects cannot be looked at */
		return GIVEN_NOTHING;
	/* A class of threads of its own may be that of a pool: ForkJoinPool's is, which serves
	 * streams. */
	if (!given || java_takes_jobs(tgid))
		return GIVEN_JOBS;
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < JAVA_GIVEN; i++) {
		__u64 at = given + JAVA_HEADER + i * sizeof(__u32);
		__u32 field = at < end ? user_read_narrow(at) : 0;

		has |= field != 0;
		own |= field && !java_is_given_again(&key, field, request);
	}
	if (!has)
		return GIVEN_NOTHING;
	rule_learn(tgid, java_class(java, given), own);
	return rule_doubts(tgid, java_class(java, given)) ? GIVEN_NOTHING : GIVEN_OWN;
}

#endif
