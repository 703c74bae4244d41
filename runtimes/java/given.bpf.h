/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Jobs that a thread of Java gives to others, and does not wait for: it may read another request
 * before they begin (asynchronous servlets). Whoever gives one away wakes a thread or makes one,
 * and has the job on its stack, which it has made for the request that it is at. So what is there
 * is put down, and is known again where a pool's thread runs it (task.bpf.h).
 *
 * A thread may also make jobs for others: where work waits in a list, it may have that done next.
 * Such a job refers to what everybody has (the list), one of a request's own to something that no
 * other open request has (its exchange, its context). So jobs of a class are believed when some
 * were seen to be so while others of the class were given by other open requests.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_GIVEN_BPF_H
#define CTXPROP_RUNTIMES_JAVA_GIVEN_BPF_H

#include "runtimes/java/frame.bpf.h"
#include "runtimes/java/thread.bpf.h"
#include "runtimes/java/virtual.bpf.h"

#define JAVA_GIVEN_STACK  256 /* words from the end of the stack on, which are looked through */
#define JAVA_GIVEN_JOBS   16  /* objects that are looked at */
#define JAVA_GIVEN_FIELDS 12  /* of each: fields of 4 bytes */

/* What is put down in `arguments`: the last request that has given such a thing to others. */
#define JAVA_GIVEN_OBJECT (1ULL << 63) /* an object, in 32 bits, and the number of collections */
#define JAVA_GIVEN_CLASS  (1ULL << 62) /* a job of this class; in `starts`: is that one's own? */
#define JAVA_GIVEN_SHIFT  32
#define JAVA_GIVEN_TURNS  0x3fffffff /* collections, as far as there is room for them */

/* A search for jobs on the stack of the current thread, which is at `request`. */
struct java_giving {
	const struct runtime_java *java;
	struct java_made made; /* since it has read that */
	__u64 at, end;
	__u64 last; /* object that was looked at last */
	__u64 request;
	__u64 field;  /* the next field of the job */
	__u64 fields; /* where they end */
	__u32 tgid;
	__u32 collections;
	__u32 left;  /* so many objects may be looked at yet */
	__u8 own;    /* 1: a field is an object that no other open request has */
	__u8 shared; /* 1: another one has */
	__u8 reserved[2];
};

/* Which request has given this to others last? From now on it is this one. 0: none has. */
static __always_inline __u64 java_given_before(const struct java_giving *giving, __u64 what)
{
	struct process_address at = {.tgid = giving->tgid, .address = what};
	struct argument now = {.request = giving->request};
	const struct argument *old = argument_lookup(&at);
	__u64 before = old ? old->request : 0;

	if (before != giving->request)
		argument_set(&at, &now);
	return before;
}

/* Is it another request than the current one, and open? */
static __always_inline int java_is_another(const struct java_giving *giving, __u64 request)
{
	return request && request != giving->request && request_standing(request) != STANDING_NONE;
}

/*
 * As a callback of bpf_loop(): the next field of the job. What was just made tells nothing, nor
 * what is met for the first time: another thread may just have made it.
 */
static long java_given_field(__u32 index, struct java_giving *giving)
{
	__u64 object = java_refers(giving->java, giving->field, 0), before;

	if (giving->field >= giving->fields)
		return 1;
	giving->field += sizeof(__u32);
	if (!object || java_is_among(&giving->made, object) || !java_size(giving->java, object))
		return 0;
	before = java_given_before(giving, JAVA_GIVEN_OBJECT |
					       (__u64)(giving->collections & JAVA_GIVEN_TURNS)
						   << JAVA_GIVEN_SHIFT |
					       java_narrow(giving->java, object));
	if (java_is_another(giving, before))
		giving->shared = 1;
	else if (before && before != giving->request)
		giving->own = 1;
	return 0;
}

/* Is a job of this class for the request of who gives it? Returns whether it is believed to be. */
static __always_inline int java_given_is_own(struct java_giving *giving, __u64 job)
{
	__u64 class = JAVA_GIVEN_CLASS | java_class(giving->java, job);

	giving->field = job + JAVA_HEADER;
	giving->fields = job + java_size(giving->java, job);
	giving->own = giving->shared = 0;
	bpf_loop(JAVA_GIVEN_FIELDS, java_given_field, giving, 0);
	if (java_is_another(giving, java_given_before(giving, class)) &&
	    (giving->own || giving->shared))
		rule_learn(giving->tgid, class, giving->own);
	return giving->own && !rule_doubts(giving->tgid, class);
}

/* Put down an object that may be a job, once. */
static __always_inline void java_given_job(struct java_giving *giving, __u64 job)
{
	struct process_address at = {.tgid = giving->tgid, .address = job};
	struct java_begun begun = {.named.request = giving->request,
				   .collections = giving->collections};

	giving->last = job;
	if (java_begun_of(giving->java, giving->tgid, job))
		return;
	giving->left--;
	begun.named.doubtful = !java_given_is_own(giving, job);
	java_begun_set(&at, &begun);
}

/* Futures are known by who waits for them. */
static __always_inline void java_given_word(struct java_giving *giving, __u64 word)
{
	const struct runtime_java *java = giving->java;

	if (java_is_among(&giving->made, word) && !(word & 7) && word != giving->last &&
	    giving->left && java_class(java, word) != java->future_class && java_size(java, word))
		java_given_job(giving, word);
}

/* As a callback of bpf_loop(). */
static long java_given_step(__u32 index, struct java_giving *giving)
{
	if (giving->at >= giving->end || !giving->left)
		return 1;
	java_given_word(giving, user_read(giving->at));
	giving->at += JAVA_WORD;
	return 0;
}

/* The current thread, which is at this request, wakes or makes another one. */
VERIFIED_ALONE int java_gives_jobs(__u32 tgid, __u64 request)
{
	struct java_readers *readers = java_readers_lookup(&tgid);
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_giving giving = {.request = request, .tgid = tgid, .left = JAVA_GIVEN_JOBS};
	const struct java_reader *reader;

	if (!runtime || !readers)
		return 0;
	reader = &readers->reader[tid & (JAVA_READERS - 1)];
	if (reader->tid != tid)
		return 0;
	giving.java = &runtime->java;
	giving.made = java_made_by(giving.java, reader);
	giving.at = user_read(reader->thread + giving.java->frames);
	giving.end = user_read(reader->thread + giving.java->stack);
	giving.collections = user_read_narrow(giving.java->collections);
	if (giving.at)
		bpf_loop(JAVA_GIVEN_STACK, java_given_step, &giving, 0);
	return 0;
}

/*
 * The current thread wakes one that waits for a while. Is it at a request? If it is not it may be
 * later, having done something else meanwhile: so nothing is learnt of that.
 */
VERIFIED_ALONE int java_gives_away(__u32 tgid)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct runtime *runtime = runtime_lookup(tgid);
	const struct worker *w = worker_lookup(&key);
	struct java_held *held;
	__u64 request;

	if (!runtime || !w || !java_may_hand_over(w))
		return 0;
	request = java_request_of(w);
	held = request ? java_held_for(tgid, key.tid, request) : NULL;
	if (!held || !java_frames_are_held(&runtime->java, held))
		return 0;
	held->misses = 0;
	java_gives_jobs(tgid, request);
	return 0;
}

#endif
