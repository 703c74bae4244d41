/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where compiled code of Java makes its frame, and where it gives it up: what there is of the frame
 * is told by the instructions. x86-64.
 */
#ifndef CTXPROP_RUNTIMES_JAVA_EDGE_BPF_H
#define CTXPROP_RUNTIMES_JAVA_EDGE_BPF_H

#include "compat.bpf.h"

/* What stands between the stack pointer and the return address. */
enum java_edge {
	JAVA_EDGE_NOTHING, /* the stack pointer is at the return address */
	JAVA_EDGE_POINTER, /* the caller's rbp */
	JAVA_EDGE_FRAME,   /* the whole frame */
	JAVA_EDGE_UNKNOWN, /* the code cannot be read */
};

#define JAVA_MADE_BYTES                                                                            \
	32                /* before an address: where the frame was made, and what checks follow   \
			   */
#define JAVA_SUB_BYTES  7 /* sub $value32, %rsp */
#define JAVA_GIVE_BYTES 8

#define X86_PUSH_RBP 0x55
#define X86_POP_RBP  0x5d
#define X86_RET      0xc3
#define X86_CALL     0xe8

#define JAVA_CALL_BYTES 13

/* sub $value, %rsp at code[i]: is the value this? */
static __always_inline int java_is_sub(const __u8 *code, __u32 value)
{
	__u32 told;

	if (code[0] != 0x48 || code[2] != 0xec)
		return 0;
	if (code[1] == 0x83)
		return code[3] == value;
	__builtin_memcpy(&told, code + 3, sizeof(told));
	return code[1] == 0x81 && told == value;
}

/*
 * An address before the one from which on the frame is there; `bytes`: those of the frame without
 * the return address. It is pushed and subtracted (C1, and stubs), or subtracted as a whole (C2).
 */
VERIFIED_ALONE __u32 java_edge_made(__u64 pc, __u32 bytes)
{
	__u8 code[JAVA_MADE_BYTES + JAVA_SUB_BYTES + 1] = {};

	if (bpf_probe_read_user(code, JAVA_MADE_BYTES, (const void *)(pc - JAVA_MADE_BYTES)))
		return JAVA_EDGE_UNKNOWN;
		/* What lies behind pc is zero, which is no part of these. */
#pragma clang loop unroll(full)
	for (int i = 0; i <= JAVA_MADE_BYTES - 4; i++)
		if (java_is_sub(code + i, bytes) || java_is_sub(code + i, bytes - 8))
			return JAVA_EDGE_FRAME;
	return code[JAVA_MADE_BYTES - 1] == X86_PUSH_RBP ? JAVA_EDGE_POINTER : JAVA_EDGE_NOTHING;
}

/* cmp value(%r15), %rsp: before it returns, a thread looks whether it is to stop. */
static __always_inline int java_is_poll(const __u8 *code)
{
	return code[0] == 0x49 && code[1] == 0x3b && (code[2] == 0x67 || code[2] == 0xa7);
}

/* Any other address: is it where the frame is given up? */
VERIFIED_ALONE __u32 java_edge_given(__u64 pc)
{
	__u8 code[JAVA_GIVE_BYTES];

	if (bpf_probe_read_user(code, sizeof(code), (const void *)pc))
		return JAVA_EDGE_UNKNOWN;
	if (code[0] == X86_POP_RBP)
		return JAVA_EDGE_POINTER;
	if (code[0] == X86_RET || java_is_poll(code))
		return JAVA_EDGE_NOTHING;
	/* ja, and ret behind it */
	if (code[0] == 0x0f && code[1] == 0x87 && code[6] == X86_RET)
		return JAVA_EDGE_NOTHING;
	return JAVA_EDGE_FRAME;
}

/*
 * What the instructions before a return address have called: call value32, or mov $value64, %r10
 * and call *%r10. 0: it cannot be told.
 */
VERIFIED_ALONE __u64 java_called(__u64 back)
{
	__u8 code[JAVA_CALL_BYTES];
	__u64 address;
	__s32 offset;

	if (bpf_probe_read_user(code, sizeof(code), (const void *)(back - sizeof(code))))
		return 0;
	if (code[8] == X86_CALL) {
		__builtin_memcpy(&offset, code + 9, sizeof(offset));
		return back + (__u64)(__s64)offset;
	}
	if (code[0] != 0x49 || code[1] != 0xba || code[10] != 0x41 || code[11] != 0xff ||
	    code[12] != 0xd2)
		return 0;
	__builtin_memcpy(&address, code + 2, sizeof(address));
	return address;
}

#endif
