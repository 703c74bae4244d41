/* SPDX-License-Identifier: Apache-2.0 */
/* How long instructions of x86-64 are, of those that V8 moves values and calls with. */
#ifndef CTXPROP_RUNTIMES_NODE_INSTRUCTION_H
#define CTXPROP_RUNTIMES_NODE_INSTRUCTION_H

#include <stddef.h>
#include <linux/types.h>

enum node_instruction_kind {
	NODE_INSTRUCTION_OTHER, /* the next one follows */
	NODE_INSTRUCTION_CALL,
	NODE_INSTRUCTION_JUMP, /* always, to a place that it names */
	NODE_INSTRUCTION_BRANCH, /* perhaps */
};

struct node_instruction {
	enum node_instruction_kind kind;
	__u32 length; /* bytes */
	__s32 target; /* of a jump or branch: bytes from its end */
};

#define NODE_INSTRUCTION_MAX 15

/*
 * Take the instruction that begins at the first of `size` bytes apart. Returns whether it is one
 * that is understood; those that end a function or go to where a register says are not.
 */
int node_instruction_read(const __u8 *bytes, size_t size, struct node_instruction *ret);

#endif
