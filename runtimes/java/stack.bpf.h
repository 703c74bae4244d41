/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Futures that stand on the stack of the current thread of Java, because it is at work on them.
 * What is left over there of something that was done before does not count: a FutureTask has the
 * thread that is at work on it, as long as it is.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_STACK_BPF_H
#define CTXPROP_RUNTIMES_JAVA_STACK_BPF_H

#include "runtimes/java/thread_state.bpf.h"
#include "probes/syscall.bpf.h"

#define JAVA_STACK_MAX 2048 /* words that are looked at, from the stack's beginning on */
#define JAVA_FUTURES   4

#define JAVA_FUTURES_NONE 2 /* in place of `wanted`: future[0] is of who waits, see job.bpf.h */

/* Addresses of futures; `count` may be more than there is room for. */
struct java_futures {
	__u64 future[JAVA_FUTURES];
	__u16 count;
	__u16 wanted; /* no more are looked for; 0: all are */
	__u32 tgid;
};

struct java_stack {
	const struct runtime_java *java;
	struct java_futures *futures;
	__u64 at, end; /* `at`: where the last chunk began, which is above what comes next */
	__u64 object;  /* of the current thread */
};

static __always_inline void java_futures_add(struct java_futures *futures, __u64 future)
{
	for (int i = 0; i < JAVA_FUTURES; i++)
		if (futures->future[i] == future)
			return;
	if (futures->count < JAVA_FUTURES)
		futures->future[futures->count & (JAVA_FUTURES - 1)] = future;
	futures->count++;
}

/* Is this a future that the current thread is at work on? */
static __always_inline int java_works_at(const struct java_stack *stack, __u64 object)
{
	const struct runtime_java *java = stack->java;

	return java_class(java, object) == java->future_class &&
	       java_refers(java, object, java->runner) == stack->object;
}

/* May a word be the address of an object? Those have 32 bits, shifted. */
static __always_inline int java_may_be_object(const struct runtime_java *java, __u64 word)
{
	return word > java->heap && !(word & 7) &&
	       word - java->heap < (1ULL << 32 << java->heap_shift);
}

static __always_inline void java_stack_word(const struct java_stack *stack, __u64 word)
{
	if (java_may_be_object(stack->java, word) && java_works_at(stack, word))
		java_futures_add(stack->futures, word);
}

/* As a callback of bpf_loop(). */
static long java_stack_chunk(__u32 index, struct java_stack *stack)
{
	__u64 words[USER_CHUNK];

	if (stack->at < stack->end + sizeof(words) || !user_chunk_before(&stack->at, words))
		return 1;
	for (int i = 0; i < USER_CHUNK; i++)
		java_stack_word(stack, words[i]);
	return stack->futures->wanted && stack->futures->count >= stack->futures->wanted;
}

/* Futures that the current thread, or the virtual one of this object on it, is at work on. */
VERIFIED_ALONE int java_stack_futures(struct java_futures *ret_futures, __u64 object)
{
	struct java_stack stack = {.futures = ret_futures, .object = object};
	const struct runtime *runtime;
	__u64 thread;

	if (!ret_futures)
		return 0;
	runtime = runtime_lookup(ret_futures->tgid);
	if (!runtime)
		return 0;
	stack.java = &runtime->java;
	thread = java_thread_of(stack.java, user_thread_pointer());
	stack.at = user_read(thread + stack.java->stack);
	stack.end = syscall_stack(bpf_get_current_task_btf());
	bpf_loop(JAVA_STACK_MAX / USER_CHUNK, java_stack_chunk, &stack, 0);
	return 0;
}

#endif
