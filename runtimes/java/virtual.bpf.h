/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What virtual threads of Java give to others to do: who puts a FutureTask into a queue wakes a
 * thread that waits for some, and has it on its stack, having just made it. Other threads with
 * requests can be asked what they wait for, virtual ones that do not run cannot: so what was given
 * is believed where those who give it in the same way (the path, a number made of what stands on
 * the stack from there on) were seen to wait for it until it is done.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_VIRTUAL_BPF_H
#define CTXPROP_RUNTIMES_JAVA_VIRTUAL_BPF_H

#include "runtimes/java/frame.bpf.h"
#include "runtimes/java/maps.bpf.h"
#include "runtimes/rule.bpf.h"

#define JAVA_GIVES_STACK 256 /* words that are looked through for what is given */
#define JAVA_PATH_CALLS  2   /* addresses of code behind that, of which the path is made */
#define JAVA_JUST_MADE   256 /* bytes: so much, at most, was made since */

/* A search for a future that the current thread has just made and gives to another one. */
struct java_gives {
	const struct runtime_java *java;
	__u64 end; /* of the stack: its beginning */
	__u64 at;  /* next */
	struct java_made made;
	__u64 future;  /* 0: not found yet */
	__u64 path;    /* made of where the functions were called from that have it */
	__u32 left;    /* so many of these yet */
	__u32 several; /* 1: there is more than one future */
};

static __always_inline void java_gives_object(struct java_gives *gives, __u64 object)
{
	const struct runtime_java *java = gives->java;

	if (!java_is_among(&gives->made, object) ||
	    java_class(java, object) != java->future_class || !java_is_to_run(java, object))
		return;
	gives->several |= gives->future && object != gives->future;
	gives->future = object;
	gives->path = 0;
	gives->left = JAVA_PATH_CALLS;
}

static __always_inline void java_gives_word(struct java_gives *gives, __u64 word)
{
	if (java_may_be_object(gives->java, word)) {
		java_gives_object(gives, word);
	} else if (gives->left && java_is_code(gives->java, word)) {
		gives->path = (gives->path ^ word) * JAVA_FRAMES_PRIME;
		gives->left--;
	}
}

/* As a callback of bpf_loop(). */
static long java_gives_chunk(__u32 index, struct java_gives *gives)
{
	__u64 words[USER_CHUNK];

	if (!user_chunk(&gives->at, gives->end, words))
		return 1;
	for (int i = 0; i < USER_CHUNK; i++)
		java_gives_word(gives, words[i]);
	return gives->future && !gives->left;
}

/* Put down what the current thread gives away, for the request of the virtual one on it. */
static __always_inline void java_gives(const struct runtime_java *java, __u32 tgid, __u64 request)
{
	__u64 thread = java_thread_of(java, user_thread_pointer());
	struct java_gives gives = {.java = java,
				   .end = user_read(thread + java->stack),
				   .at = user_read(thread + java->frames)};
	struct java_begun begun = {.thread = thread, .named.request = request};
	struct process_address at = {.tgid = tgid};

	gives.made.to = user_read(thread + java->buffer_top);
	gives.made.from = gives.made.to - JAVA_JUST_MADE;
	if (!gives.at || gives.made.from < user_read(thread + java->buffer_start))
		gives.made.from = user_read(thread + java->buffer_start);
	bpf_loop(JAVA_GIVES_STACK / USER_CHUNK, java_gives_chunk, &gives, 0);
	if (!gives.future || gives.several)
		return;
	at.address = gives.future;
	begun.path = gives.path | JAVA_PATH;
	begun.collections = user_read_narrow(java->collections);
	java_begun_set(&at, &begun);
}

/* What is known of an object that has been begun, or given away; NULL: nothing. */
static __always_inline const struct java_begun *java_begun_of(const struct runtime_java *java,
							      __u32 tgid, __u64 object)
{
	struct process_address at = {.tgid = tgid, .address = object};
	const struct java_begun *begun = java_begun_lookup(&at);

	/* Objects are moved, and others stand there then. */
	return begun && begun->collections == user_read_narrow(java->collections) ? begun : NULL;
}

/* The current thread wakes another one that may do something for it. */
VERIFIED_ALONE int java_virtual_gives(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct worker_key key = {.tgid = tgid};
	const struct runtime_java *java;
	const struct worker *w;
	__u64 object;

	if (!runtime || !runtime->java.virtual_object || !runtime->java.future_class)
		return 0;
	java = &runtime->java;
	object = java_virtual_object(java, java_thread_of(java, user_thread_pointer()));
	if (!java_virtual_key(java, object, &key))
		return 0;
	w = worker_lookup(&key);
	if (w && worker_only(w))
		java_gives(java, tgid, worker_only(w));
	return 0;
}

#endif
