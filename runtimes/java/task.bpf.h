/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The job that a pool's thread of Java is at, which a request's thread has given away
 * (given.bpf.h). What stands on a stack may be left over; but a method that is interpreted has a
 * frame with fixed places, in which it keeps the instruction that it is at, and its variables. A
 * pool's loop calls its jobs by `job.run()`: `job` is one of its variables, and the instruction
 * before loads that. The loop is a method of what the thread was made to run, or of what that
 * belongs to (the pool): so no other method's call is taken for it. x86-64, Java 17 to 25.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_TASK_BPF_H
#define CTXPROP_RUNTIMES_JAVA_TASK_BPF_H

#include "runtimes/java/given.bpf.h"

#define JAVA_TASK_STACK 2048 /* words from the beginning of the stack on */

/*
 * The frame of a method that is interpreted: words from the one behind which its return address
 * stands (HotSpot's frame_x86.hpp).
 */
enum java_loop_frame {
	JAVA_LOOP_SENDER = -1,      /* stack pointer of who has called, before the call */
	JAVA_LOOP_METHOD = -3,      /* its Method */
	JAVA_LOOP_VARIABLES = -7,   /* address of the first, the others below; since 21 in words */
	JAVA_LOOP_INSTRUCTION = -8, /* address of the one that it is at */
};

#define JAVA_VARIABLES_MAX 65536 /* words: more is an address */
#define JAVA_METHOD_CONST  8     /* Method._constMethod, which its instructions are behind: */
#define JAVA_METHOD_MAX    65536 /* bytes at most */

/* Instructions: aload_1 to aload_3, and invokeinterface with nothing but the object. */
#define JAVA_LOAD_FIRST 0x2b
#define JAVA_LOADS      3
#define JAVA_CALL       0xb9
#define JAVA_CALL_WORDS 1

#define JAVA_LOOP_FIELDS 12  /* of what a thread was made to run, which are followed */
#define JAVA_LOOP_STEPS  256 /* fields and objects that are looked at */

/* A search for the loop of a pool's thread. */
struct java_task {
	const struct runtime_java *java;
	__u64 at, end, base;
	__u64 job;  /* what the outermost method that makes such a call has called; 0: none yet */
	__u64 self; /* its object */
};

/* Which of its variables does a method call, being at this instruction? 0: something else. */
static __always_inline __u32 java_variable_called(__u64 instruction)
{
	__u8 code[6];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(instruction - 1)) ||
	    code[1] != JAVA_CALL || code[4] != JAVA_CALL_WORDS || code[5])
		return 0;
	code[0] -= JAVA_LOAD_FIRST;
	return code[0] < JAVA_LOADS ? code[0] + 1 : 0;
}

static __always_inline __u64 java_loop_word(__u64 pointer, enum java_loop_frame which)
{
	return user_read(pointer + (__s64)which * JAVA_WORD);
}

/* May it be the frame of a method that is interpreted, which is at this instruction? */
static __always_inline int java_is_loop_frame(const struct java_task *task, __u64 pointer,
					      __u64 instruction)
{
	__u64 sender = java_loop_word(pointer, JAVA_LOOP_SENDER);
	__u64 method = user_read(java_loop_word(pointer, JAVA_LOOP_METHOD) + JAVA_METHOD_CONST);

	return sender > pointer + JAVA_WORD && sender <= task->base && method &&
	       instruction - method < JAVA_METHOD_MAX;
}

/* The word at `at` may be a return address. */
static __always_inline void java_task_frame(struct java_task *task, __u64 at)
{
	__u64 pointer = at - JAVA_WORD, variables;
	__u64 instruction = java_loop_word(pointer, JAVA_LOOP_INSTRUCTION);
	__u32 variable;

	if (!java_is_loop_frame(task, pointer, instruction))
		return;
	variable = java_variable_called(instruction);
	if (!variable)
		return;
	variables = java_loop_word(pointer, JAVA_LOOP_VARIABLES);
	if (variables < JAVA_VARIABLES_MAX)
		variables = pointer + variables * JAVA_WORD;
	task->job = user_read(variables - (__u64)variable * JAVA_WORD);
	task->self = user_read(variables);
}

/* As a callback of bpf_loop(): the next words from the beginning of the stack on. */
static long java_task_chunk(__u32 index, struct java_task *task)
{
	__u64 words[USER_CHUNK];

	if (task->at < task->end + sizeof(words) || !user_chunk_before(&task->at, words))
		return 1;
	for (int i = USER_CHUNK - 1; i >= 0; i--)
		if (!task->job && java_is_code(task->java, words[i]))
			java_task_frame(task, task->at + (__u64)i * JAVA_WORD);
	return task->job != 0;
}

/* A search for an object among what the current thread was made to run. */
struct java_loop {
	const struct runtime_java *java;
	__u64 given;   /* what it was made to run */
	__u64 at, end; /* the fields that are looked at, of that or of what it refers to */
	__u32 next;    /* which of its fields refers to the next object */
	__u32 self;    /* in 32 bits, what is searched for */
	__u32 found;
	__u32 reserved;
};

static __always_inline void java_loop_object(struct java_loop *loop, __u64 object)
{
	loop->at = object + JAVA_HEADER;
	loop->end = object + java_size(loop->java, object);
}

/* As a callback of bpf_loop(): the next field, or the next object. */
static long java_loop_step(__u32 index, struct java_loop *loop)
{
	if (loop->at < loop->end) {
		loop->found = user_read_narrow(loop->at) == loop->self;
		loop->at += sizeof(__u32);
		return loop->found;
	}
	if (loop->next >= JAVA_LOOP_FIELDS)
		return 1;
	java_loop_object(
	    loop, java_refers(loop->java, loop->given, JAVA_HEADER + loop->next * sizeof(__u32)));
	loop->next++;
	return 0;
}

/*
 * Does the loop of this object belong to what the current thread was made to run? It is that, or
 * what it refers to in two steps.
 */
VERIFIED_ALONE int java_runs_loop(__u32 tgid, __u64 self)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_loop loop = {};

	if (!runtime)
		return 0;
	loop.java = &runtime->java;
	loop.given = java_given(loop.java);
	loop.self = java_narrow(loop.java, self);
	if (!loop.given || !loop.self)
		return 0;
	java_loop_object(&loop, loop.given);
	bpf_loop(JAVA_LOOP_STEPS, java_loop_step, &loop, 0);
	return loop.found || loop.given == self;
}

/* Name the request for which the job was given away that the current thread runs, as a pool's. */
VERIFIED_ALONE int java_task_of(__u32 tgid, struct named *ret_named)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_task task = {};
	const struct java_begun *begun;

	if (!runtime || !ret_named)
		return 0;
	task.java = &runtime->java;
	task.base = java_stack_base(task.java);
	task.at = task.base;
	task.end = syscall_stack(bpf_get_current_task_btf());
	if (!task.base)
		return 0;
	bpf_loop(JAVA_TASK_STACK / USER_CHUNK, java_task_chunk, &task, 0);
	if (!task.job || !java_runs_loop(tgid, task.self))
		return 0;
	begun = java_begun_of(task.java, tgid, task.job);
	if (!begun || request_standing(begun->named.request) == STANDING_NONE)
		return 0;
	*ret_named = begun->named;
	return 1;
}

#endif
