/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Objects in the memory of a program in C or the like, of which nothing is known but where they
 * are, and a search that goes from one to the next.
 */
#ifndef CTXPROP_RUNTIMES_NATIVE_OBJECT_BPF_H
#define CTXPROP_RUNTIMES_NATIVE_OBJECT_BPF_H

#include "probes/object.bpf.h"
#include "probes/syscall.bpf.h"
#include "probes/user.bpf.h"

#define NATIVE_STACK   122 /* words of the stack that are at hand */
#define NATIVE_HAND    (SYSCALL_SAVED + NATIVE_STACK)
#define NATIVE_WORDS   32 /* of an object are looked at */
#define NATIVE_QUEUE   64 /* objects in all; all of these are powers of two */
#define NATIVE_SEEN    128
#define NATIVE_NOWHERE (~0U)

#define NATIVE_STACK_SIZE 0x40000 /* bytes above the end of a stack that are taken to be of it */

/* glibc notes the size of what is allocated before it, in bytes. Its last bits are flags. */
#define NATIVE_SIZE_FLAGS 7
#define NATIVE_ALIGNMENT  16
#define NATIVE_SIZE_MIN   32
#define NATIVE_SIZE_MAX   (1 << 20)

/* An object to look at, so many steps away from those at hand. */
struct native_next {
	__u64 object;
	__u16 depth;
	__u16 word;  /* the last of the words that have led here, by its number in its object, */
	__u32 shape; /* and a number for all of them */
};

/* Where there are requests beside the one that was found. */
#define NATIVE_OTHERS_NEAR   1 /* as near */
#define NATIVE_OTHERS_BEYOND 2 /* a step farther away, or somewhere at hand */

struct native_search {
	struct native_next queue[NATIVE_QUEUE];
	__u64 seen[NATIVE_SEEN];
	__u64 hand[NATIVE_HAND]; /* what registers and stack hold */
	struct {
		__u64 before; /* what stands before an object, */
		__u64 word[NATIVE_WORDS];
	} read;    /* and in it */
	__u64 sp;  /* where the stack ends */
	__u64 low; /* from here on there are objects */
	struct {
		__u64 request; /* an open one, the nearest; or 0 */
		__u64 by;      /* the object that stands for it */
		__u32 shape;
		__u32 word;  /* the last that has led to it */
		__u32 depth; /* steps */
		__u32 reserved;
	} found;
	__u32 tgid;
	__u32 descriptor;
	__u32 at;         /* its place in objects that are wanted; NATIVE_NOWHERE: any */
	__u32 shape;      /* by which requests are looked for; 0: by any */
	__u32 first, end; /* of the queue */
	__u32 lost_depth; /* of the first object for which there was no room */
	__u32 others;     /* NATIVE_OTHERS_NEAR and the like */
	__u32 serving_at; /* the place of a descriptor in objects that stand for requests */
	__u32 reserved;
};

/* The one of each thread that has searched, as in node_queue.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct native_search);
} native_searches __weak SEC(".maps");

/* Nothing was found or looked at yet. */
static __always_inline void native_forget(struct native_search *search)
{
	__builtin_memset(&search->found, 0, sizeof(search->found));
	search->first = search->end = search->others = search->shape = 0;
	search->lost_depth = search->found.depth = NATIVE_NOWHERE;
	for (int i = 0; i < NATIVE_SEEN; i++)
		*(volatile __u64 *)&search->seen[i] = 0;
}

/* May there be an object at this address? Not in the program's file, nor on the stack. */
static __always_inline int native_is_address(const struct native_search *search, __u64 address)
{
	if (address % sizeof(__u64) || address < search->low || address >> 47)
		return 0;
	return address - search->sp >= NATIVE_STACK_SIZE;
}

/*
 * The open request that an object stands for, as long as the descriptor of its connection still is
 * in it: memory may be used for something else; 0: for none.
 */
static __always_inline __u64 native_request(const struct native_search *search, __u64 object)
{
	return object_request_of(search->tgid, object, object + search->serving_at);
}

/* Read an object. Returns how many words belong to it, as far as it can be told. */
static __always_inline __u32 native_read(struct native_search *search, __u64 object)
{
	__u64 size;

	if (bpf_probe_read_user(&search->read, sizeof(search->read),
				(const void *)(object - sizeof(search->read.before))))
		return 0;
	size = search->read.before & ~(__u64)NATIVE_SIZE_FLAGS;
	if (object % NATIVE_ALIGNMENT || size % NATIVE_ALIGNMENT || size < NATIVE_SIZE_MIN ||
	    size > NATIVE_SIZE_MAX)
		return NATIVE_WORDS;
	size = size / sizeof(__u64) - 1;
	return size < NATIVE_WORDS ? size : NATIVE_WORDS;
}

/* Where in an object, in bytes, does the descriptor stand? NATIVE_NOWHERE: it does not. */
VERIFIED_ALONE __u32 native_place(struct native_search *search, __u64 object)
{
	__u32 words;
	__u64 word;

	if (!search || !native_is_address(search, object))
		return NATIVE_NOWHERE;
	if (search->at != NATIVE_NOWHERE)
		return (__u32)user_read(object + search->at) == search->descriptor ? search->at
										   : NATIVE_NOWHERE;
	words = native_read(search, object);
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < NATIVE_WORDS; i++) {
		if (i >= words)
			break;
		word = search->read.word[i & (NATIVE_WORDS - 1)];
		if ((__u32)word == search->descriptor)
			return i * sizeof(__u64);
		if (word >> 32 == search->descriptor)
			return i * sizeof(__u64) + sizeof(__u32);
	}
	return NATIVE_NOWHERE;
}

/*
 * Where the word number `i` of an object leads to. (In one number: functions that are verified
 * alone take no structures.)
 */
static __always_inline __u64 native_step_to(const struct native_next *from, __u32 i)
{
	return (__u64)(from->depth + 1) << 48 | (__u64)i << 32 |
	       (__u32)((from->shape + 1 + i) * 0x9e3779b1U);
}

/* Look at an object later, unless it was looked at. `step`: which one has led to it, as above. */
VERIFIED_ALONE int native_push(struct native_search *search, __u64 object, __u64 step)
{
	__u32 depth = step >> 48;
	__u64 *seen;

	if (!search || !native_is_address(search, object))
		return 0;
	seen = &search->seen[(object >> 4) & (NATIVE_SEEN - 1)];
	if (*seen == object)
		return 0;
	*seen = object;
	if (search->end >= NATIVE_QUEUE) {
		if (search->lost_depth > depth)
			search->lost_depth = depth;
		return 0;
	}
	search->queue[search->end++ & (NATIVE_QUEUE - 1)] = (struct native_next){
	    .object = object, .depth = depth, .word = (__u16)(step >> 32), .shape = (__u32)step};
	return 0;
}

#endif
