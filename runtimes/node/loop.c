// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "inspect/process_memory.h"
#include "runtimes/node/instruction.h"
#include "runtimes/node/loop.h"

/*
 * Optimised code tells by calls only which function it is in. But each loop asks, at its end, whether
 * V8 wants to interrupt it, and if so calls it: that is done by the function that has the loop, and
 * what is between the loop's beginning and that place is in that function, or in one that it calls;
 * compilers move instructions out of loops, but not into them. Code that is seldom needed, as that
 * call, is behind all else. The question is whether the stack has reached its limit, or a byte says
 * so; both are beside what r13 points at:
 *
 *     cmp rsp, [r13 + n]              cmp byte [r13 + n], 0
 *     ja  LOOP                        jnz CALL
 *     jmp CALL                        (moves)
 *                                     jmp LOOP
 */
#define BY_STACK_SIZE 4 /* bytes of these instructions */
#define BY_BYTE_SIZE  5

#define LOOP_MAX      65536 /* bytes of instructions that are looked at */
#define CHUNK         1024
#define OVERLAP       16 /* so much of the next chunk */
#define QUESTIONS_MAX 32
#define WAY_MAX       512 /* bytes without a branch: moves, and registers that are saved */
#define BEFORE        WAY_MAX /* a question may be so far before an instruction of its loop */

/* What is known of a question's place. */
struct loop {
	__u64 begin, end; /* of the loop; end: behind it */
	__u64 call;       /* where what calls begins */
};

/* Returns the size of the question at these bytes; 0: it is none. */
static __u32 question_size(const __u8 *byte)
{
	if (byte[0] == 0x49 && byte[1] == 0x3b && byte[2] == 0x65)
		return BY_STACK_SIZE;
	if (byte[0] == 0x41 && byte[1] == 0x80 && byte[2] == 0x7d && !byte[4])
		return BY_BYTE_SIZE;
	return 0;
}

/* The way from `at` on, where nothing branches, up to the first instruction that is of a kind.
 * Returns the address behind that, 0: it does not come to one. */
static __u64 follow(int memory, const struct node_object *object, __u64 at,
		    enum node_instruction_kind kind, __u64 *ret_target)
{
	const __u64 end = object->start + object->size;
	const __u64 size = at < end && end - at < WAY_MAX ? end - at : WAY_MAX;
	struct node_instruction instruction;
	__u8 byte[WAY_MAX];
	__u64 done = 0;

	if (at - object->start >= object->size || process_memory_read(memory, at, byte, size))
		return 0;
	for (; node_instruction_read(byte + done, size - done, &instruction);) {
		done += instruction.length;
		*ret_target = at + done + (__u64)(__s64)instruction.target;
		if (instruction.kind == kind)
			return at + done;
		if (instruction.kind != NODE_INSTRUCTION_OTHER)
			return 0;
	}
	return 0;
}

/* What follows a question. Returns whether it is that of a loop. */
static bool read_loop(int memory, const struct node_object *object, __u64 question, __u32 size,
		      struct loop *ret)
{
	const __u64 at = question + size;
	__u64 branch = 0, jump = 0;
	const __u64 next = follow(memory, object, at, NODE_INSTRUCTION_BRANCH, &branch);

	if (!next || next - at > 6) /* more than the branch itself */
		return false;
	ret->end = follow(memory, object, next, NODE_INSTRUCTION_JUMP, &jump);
	ret->begin = branch <= question ? branch : jump;
	ret->call = branch <= question ? jump : branch;
	if (branch <= question && ret->end - next > 5)
		return false;
	return ret->end && ret->begin <= question && ret->begin >= object->start &&
	       ret->call > question;
}

/* The point of the call; its instructions lead there without a branch. */
static int call_point(int memory, const struct node_object *object, const struct loop *loop)
{
	__u64 unused, back = follow(memory, object, loop->call, NODE_INSTRUCTION_CALL, &unused);

	if (!back)
		return NODE_POINT_NONE;
	return node_object_point(memory, object, (__u32)(back - object->start));
}

/* Of the questions in these bytes, which are at `from`. */
static int look_at(int memory, const struct node_object *object, __u64 pc, const __u8 *byte,
		   __u64 from, int *questions)
{
	int point = NODE_POINT_NONE;
	struct loop loop;

	for (__u32 i = 0; i < CHUNK && *questions && point == NODE_POINT_NONE; i++) {
		const __u32 size = question_size(byte + i);

		if (!size)
			continue;
		--*questions;
		if (read_loop(memory, object, from + i, size, &loop) && pc >= loop.begin &&
		    pc < loop.end)
			point = call_point(memory, object, &loop);
	}
	return point;
}

int node_loop_point(int memory, const struct node_object *object, __u64 pc)
{
	const __u64 end = object->start + object->size;
	__u64 at = pc - object->start > BEFORE ? pc - BEFORE : object->start;
	int point = NODE_POINT_NONE, questions = QUESTIONS_MAX;
	__u8 byte[CHUNK + OVERLAP];

	for (; point == NODE_POINT_NONE && at < end && at - pc + BEFORE < LOOP_MAX; at += CHUNK) {
		const __u64 left = end - at;
		const __u64 size = left < sizeof(byte) ? left : sizeof(byte);

		__builtin_memset(byte, 0, sizeof(byte));
		if (process_memory_read(memory, at, byte, size))
			break;
		point = look_at(memory, object, pc, byte, at, &questions);
	}
	return point;
}
