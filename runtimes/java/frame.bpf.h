/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is a thread of Java still at the request that it has read last? Threads of Tomcat and Jetty read
 * from sockets that do not block, and then work on that request until it is answered; or they hand
 * it over, and go on with something else. The stack tells: functions that were called for a
 * connection have it there until they return. So what is looked for when a request is read is the
 * outermost object on the stack that leads to the connection (SocketChannelImpl), and noted is how
 * the stack looks up to there. As long as it looks like that, and that place leads to that
 * connection, the thread is in that function. (What stands on a stack by itself may be left over.)
 */
#ifndef CTXPROP_RUNTIMES_JAVA_FRAME_BPF_H
#define CTXPROP_RUNTIMES_JAVA_FRAME_BPF_H

#include "runtimes/java/classes.bpf.h"
#include "runtimes/java/maps.bpf.h"
#include "runtimes/java/stack.bpf.h"

#define JAVA_WORD       8     /* bytes */
#define JAVA_FRAMES_MAX 4096  /* bytes of a stack that are compared */
#define JAVA_LOOK_MAX   16384 /* that are looked through for a connection, from its end on */
#define JAVA_PART       64    /* bytes of an object that are read at a time */
#define JAVA_PARTS      4     /* so many at most */
#define JAVA_KNOWN      4     /* objects that lead to a connection; a power of two */
#define JAVA_STEPS_MAX  3
#define JAVA_MISSES_MAX 16 /* then only every such request is looked for; a power of two */
#define JAVA_STEP_BITS  8

/* May a word be the address of code that Java has compiled? */
static __always_inline int java_is_code(const struct runtime_java *java, __u64 word)
{
	return word - java->code < java->code_size;
}

/* Is an object the connection of this file descriptor? */
static __always_inline int java_is_channel(const struct runtime_java *java, __u64 object,
					   __u32 descriptor)
{
	return java_class(java, object) == java->channel_class &&
	       user_read_narrow(object + java->descriptor) == descriptor;
}

/* Bytes of an object; 0: it is an array, or not known. */
static __always_inline __u32 java_size(const struct runtime_java *java, __u64 object)
{
	__u64 class = java->classes + ((__u64)java_class(java, object) << java->class_shift);
	__s32 layout = (__s32)user_read_narrow(class + java->layout);

	return layout > 0 ? layout : 0;
}

/* Objects that lead to a connection, and what is asked of another one: does it refer to these? */
struct java_leads {
	__u64 part, end; /* of the object that is looked through */
	__u32 step;      /* to `part` in that */
	__u32 steps;     /* that lead from there to the connection, when found */
	__u32 known[JAVA_KNOWN],
	    ways[JAVA_KNOWN]; /* objects in 32 bits, and the steps from there */
	__u32 count;
	__u32 reserved;
};

/* A search for what leads to a connection, from the end of a stack to its beginning. */
struct java_look {
	const struct runtime_java *java;
	struct java_held *held;
	__u64 at, base;
	__u64 code; /* address of the last word that was one of code; 0: none yet */
	struct java_leads leads;
};

/* Does the next part of an object refer to one that is known? 0: no, and there may be more. */
VERIFIED_ALONE int java_part_leads(struct java_leads *leads)
{
	__u32 fields[JAVA_PART / sizeof(__u32)];

	if (!leads || leads->part >= leads->end ||
	    bpf_probe_read_user(fields, sizeof(fields), (const void *)leads->part))
		return 1;
	for (__u32 i = 0; i < JAVA_PART / sizeof(__u32); i++) {
		if (!fields[i] || leads->part + i * sizeof(__u32) >= leads->end)
			continue;
		for (int k = 0; k < JAVA_KNOWN; k++) {
			if (fields[i] != leads->known[k])
				continue;
			leads->steps = (leads->step + i) | leads->ways[k] << JAVA_STEP_BITS;
			return 1;
		}
	}
	leads->part += JAVA_PART;
	leads->step += JAVA_PART / sizeof(__u32);
	return 0;
}

/* As a callback of bpf_loop(). */
static long java_look_part(__u32 index, struct java_leads *leads)
{
	return java_part_leads(leads) != 0;
}

/* Does an object lead to the connection? Returns whether it does; the steps are filled in. */
static __always_inline int java_look_into(struct java_look *look, __u64 object)
{
	struct java_leads *leads = &look->leads;

	leads->part = object;
	leads->end = object + java_size(look->java, object);
	leads->step = 0;
	leads->steps = 0;
	bpf_loop(JAVA_PARTS, java_look_part, leads, 0);
	return leads->steps != 0;
}

static __always_inline void java_look_hit(struct java_look *look, __u64 address)
{
	if (!look->code)
		return;
	look->held->at = address;
	look->held->end = look->code;
	look->held->steps = look->leads.steps;
}

static __always_inline void java_look_learn(struct java_look *look, __u64 object)
{
	struct java_leads *leads = &look->leads;
	__u32 i = leads->count;

	if (i >= JAVA_KNOWN || leads->steps >> (JAVA_STEP_BITS * (JAVA_STEPS_MAX - 1)))
		return;
	leads->known[i & (JAVA_KNOWN - 1)] = java_narrow(look->java, object);
	leads->ways[i & (JAVA_KNOWN - 1)] = leads->steps;
	leads->count++;
}

/* Is an object one of those that are known? */
static __always_inline int java_look_knows(struct java_look *look, __u64 object)
{
	__u32 narrow = java_narrow(look->java, object);

	for (int k = 0; k < JAVA_KNOWN; k++) {
		if (look->leads.known[k] != narrow)
			continue;
		look->leads.steps = look->leads.ways[k];
		return 1;
	}
	return 0;
}

/* As a callback of bpf_loop(). */
static long java_look_word(__u32 index, struct java_look *look)
{
	__u64 address = look->at, word;

	if (address >= look->base ||
	    bpf_probe_read_user(&word, sizeof(word), (const void *)address))
		return 1;
	look->at += JAVA_WORD;
	if (java_is_code(look->java, word)) {
		look->code = address;
		return 0;
	}
	if (!java_may_be_object(look->java, word))
		return 0;
	if (java_look_knows(look, word)) {
		java_look_hit(look, address);
	} else if (look->leads.count ? java_look_into(look, word)
				     : java_is_channel(look->java, word, look->held->descriptor)) {
		java_look_hit(look, address);
		java_look_learn(look, word);
	}
	return 0;
}

/* What a stack is like. */
struct java_frames {
	const struct runtime_java *java;
	__u64 at, end;
	__u64 number;
};

#define JAVA_FRAMES_PRIME 0x100000001b3ULL /* of FNV-1a */

/* As a callback of bpf_loop(). */
static long java_frames_chunk(__u32 index, struct java_frames *frames)
{
	__u64 words[USER_CHUNK];

	if (frames->at <= frames->end || !user_chunk_before(&frames->at, words))
		return 1;
	for (int i = 0; i < USER_CHUNK; i++)
		if (frames->at + i * JAVA_WORD >= frames->end &&
		    !java_may_be_object(frames->java, words[i]))
			frames->number = (frames->number ^ words[i]) * JAVA_FRAMES_PRIME;
	return 0;
}

static __always_inline __u64 java_frames_number(const struct runtime_java *java,
						const struct java_held *held)
{
	struct java_frames frames = {.java = java, .at = held->start + JAVA_WORD, .end = held->end};

	bpf_loop(JAVA_FRAMES_MAX / (USER_CHUNK * JAVA_WORD), java_frames_chunk, &frames, 0);
	return frames.number;
}

/* Is the connection at the place that is noted, or where it was for another request? */
static __always_inline int java_is_held(const struct runtime_java *java,
					const struct java_held *held)
{
	__u64 object = user_read(held->at);
	__u32 steps = held->steps;

	for (int i = 0; i < JAVA_STEPS_MAX && steps; i++) {
		object = java_refers(java, object, (steps & ((1 << JAVA_STEP_BITS) - 1)) * 4);
		steps >>= JAVA_STEP_BITS;
	}
	return java_may_be_object(java, object) && java_is_channel(java, object, held->descriptor);
}

/* Where the stack of the current thread of Java begins; 0: it is none. */
static __always_inline __u64 java_stack_base(const struct runtime_java *java)
{
	__u64 thread = java_thread_of(java, user_thread_pointer());

	return thread ? user_read(thread + java->stack) : 0;
}

/* Find where the current thread has the connection that it reads from. */
static __always_inline void java_look_for(const struct runtime_java *java, struct java_held *held)
{
	struct java_look look = {.java = java,
				 .held = held,
				 .at = syscall_stack(bpf_get_current_task_btf()) & ~(JAVA_WORD - 1),
				 .base = java_stack_base(java)};

	held->at = 0;
	bpf_loop(JAVA_LOOK_MAX / JAVA_WORD, java_look_word, &look, 0);
	held->start = look.code;
	held->misses += !held->at;
}

static __always_inline struct java_held *java_held_of(__u32 tgid)
{
	struct process_address at = {.tgid = tgid, .address = (__u32)bpf_get_current_pid_tgid()};

	return java_held_lookup(&at);
}

/* Is it worth while to look for a connection? Not always in threads that were seen to have none. */
static __always_inline int java_looks(struct java_held *held)
{
	if (held->misses < JAVA_MISSES_MAX || !(held->misses % JAVA_MISSES_MAX))
		return 1;
	held->misses++;
	return 0;
}

/*
 * The current thread reads a request from a socket that does not block. If another one of the same
 * connection is still open, it may be at work on either.
 */
VERIFIED_ALONE int java_holds(__u32 tgid, __u64 request)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_held *held = java_held_of(tgid);
	__u32 descriptor = (__u32)syscall_argument(bpf_get_current_task_btf());

	if (!runtime || !held)
		return 0;
	if (!runtime->java.channel_class) {
		runtime_lacks_classes(tgid);
		return 0;
	}
	held->shared =
	    held->descriptor == descriptor && request_standing(held->request) != STANDING_NONE;
	held->request = request;
	held->descriptor = descriptor;
	if (held->at ? !java_is_held(&runtime->java, held) : java_looks(held))
		java_look_for(&runtime->java, held);
	if (held->at)
		held->frames = java_frames_number(&runtime->java, held);
	return 0;
}

/* Make room for what java_holds() finds. */
VERIFIED_ALONE int java_held_make(__u32 tgid)
{
	struct process_address at = {.tgid = tgid, .address = (__u32)bpf_get_current_pid_tgid()};
	struct java_held blank = {};

	if (!java_held_lookup(&at))
		java_held_add(&at, &blank);
	return 0;
}

/* Does a thread read from sockets that do not block, so that it may hand over what it has read? */
static __always_inline int java_may_hand_over(const struct worker *w)
{
	return w->flags & (WORKER_LOOP | WORKER_MAYBE);
}

/* Is what a thread has read last a request, and may that be in other hands? */
static __always_inline int java_is_unsure(const struct worker *w)
{
	return (w->flags & WORKER_MAYBE) ||
	       ((w->flags & WORKER_LOOP) && w->read_by == EVIDENCE_LOOP);
}

/* What a thread works on, unless it has handed that over; java_is_at() tells. */
static __always_inline __u64 java_request_of(const struct worker *w)
{
	__u64 last = w->held[(w->taken - 1) & (WORKER_HELD - 1)];

	if (!java_may_hand_over(w))
		return worker_only_inlined(w);
	return request_standing(last) == STANDING_NONE ? 0 : last;
}

/* What is noted of a thread's stack, if it is of this request alone; NULL: nothing. */
static __always_inline struct java_held *java_held_for(__u32 tgid, __u32 tid, __u64 request)
{
	struct process_address at = {.tgid = tgid, .address = tid};
	struct java_held *held = java_held_lookup(&at);

	return held && held->at && held->request == request && !held->shared ? held : NULL;
}

static __always_inline int java_frames_are_held(const struct runtime_java *java,
						const struct java_held *held)
{
	return java_frames_number(java, held) == held->frames && java_is_held(java, held);
}

/* Does the stack of a thread say that it is still at the request? */
VERIFIED_ALONE int java_stack_is_at(__u32 tgid, __u32 tid, __u64 request)
{
	struct java_held *held = java_held_for(tgid, tid, request);
	const struct runtime *runtime = runtime_lookup(tgid);

	if (!runtime || !held)
		return 0;
	if (java_frames_are_held(&runtime->java, held)) {
		if (ENGINE_LEARNS)
			held->misses = 0;
		return 1;
	}
	if (ENGINE_LEARNS) {
		held->at = 0;
		held->misses++;
	}
	return 0;
}

/* Is the thread that has read a request still at that? */
VERIFIED_ALONE int java_is_at(__u32 tgid, __u64 request)
{
	const struct request *r = request_lookup(request);
	struct worker_key key;
	const struct worker *w;

	if (!r)
		return 0;
	key = r->worker;
	w = worker_lookup(&key);
	if (w && !java_may_hand_over(w))
		return 1;
	return java_stack_is_at(tgid, key.tid, request);
}

#endif
