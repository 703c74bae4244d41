/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does an async function wait for what a function has given back that it has just called? If so, it
 * waits for what is done for it. If it waits for a promise that was there before (`await
 * previous`), it may wait for the end of what somebody else does, to have its turn.
 *
 * The code of V8's interpreter tells. It stands before the place where the function goes on: a
 * call, whose result goes to one register and the function's own object to the one before, and the
 * wait for these two. Tried with V8 10.2, 11.3, 12.4 and 13.6, where the numbers of these differ,
 * but not how far they are apart.
 */
#ifndef CTXPROP_RUNTIMES_NODE_V8_AWAIT_BPF_H
#define CTXPROP_RUNTIMES_NODE_V8_AWAIT_BPF_H

#include "runtimes/node/v8.bpf.h"

/* Words. */
enum v8_await_field {
	V8_ASYNC_FUNCTION = 24,
	V8_SHARED_CODE = 8,    /* of what functions of one text share: bytecode, or who has that */
	V8_SHARED_SOURCE = 16, /* since V8 13: what was not compiled yet */
	V8_ASYNC_PLACE = 48,   /* where it goes on: bytes from its code's beginning */
	V8_CODE_WORDS = 8,     /* of who has it: so many are looked at */
};

/*
 * Bytes before that place. Compiled code, but for optimized one, names the next byte as the place.
 * Before it stands `Mov self, first; InvokeIntrinsic wait, first, 2`.
 */
#define V8_AWAIT_BYTES 25
#define V8_AWAIT_TAIL  8 /* those of the wait, of that move, and of what keeps the result */

/* Numbers of what calls: so many before, or behind, that of the wait (InvokeIntrinsic). */
#define V8_CALL_FIRST 12 /* CallProperty */
#define V8_CALLS      9
#define V8_NEW        1 /* Construct */
#define V8_CALL_BYTES 5 /* as a rule */

/* How long calls are: with a list of arguments, with 0, 1 or 2 of them. */
static __always_inline __u32 v8_call_bytes(__s32 call)
{
	switch (call) {
	case 1: /* CallProperty0 */
	case 6: /* CallUndefinedReceiver1 */
		return V8_CALL_BYTES - 1;
	case 3: /* CallProperty2 */
		return V8_CALL_BYTES + 1;
	case 5: /* CallUndefinedReceiver0 */
		return V8_CALL_BYTES - 2;
	default:
		return V8_CALL_BYTES;
	}
}

/* Is it a call that is so many bytes long? `number`: of the code; `wait`: that of the wait. */
static __always_inline int v8_is_call(__u8 number, __u8 wait, __u32 bytes)
{
	__s32 call = (__s32)number - (wait - V8_CALL_FIRST);

	if (number == wait + V8_NEW)
		return bytes == V8_CALL_BYTES;
	return call >= 0 && call < V8_CALLS && v8_call_bytes(call) == bytes;
}

/* Does a call stand before `end`? Its operands may be twice as wide. */
static __always_inline int v8_ends_with_call(const __u8 code[V8_AWAIT_BYTES], __u32 end, __u8 wait)
{
#pragma unroll
	for (__u32 bytes = V8_CALL_BYTES - 2; bytes <= V8_CALL_BYTES + 1; bytes++) {
		if (v8_is_call(code[end - bytes], wait, bytes))
			return 1;
		if (!code[end - 2 * bytes] && v8_is_call(code[end - 2 * bytes + 1], wait, bytes))
			return 1;
	}
	return 0;
}

/* Does the code that ends with a wait, before `end`, have a call before that? */
static __always_inline int v8_code_calls(const __u8 code[V8_AWAIT_BYTES], __u32 end)
{
	__u8 wait = code[end - 4], first = code[end - 2];

	if (code[end - 1] != 2 || first != code[end - 5])
		return 0;
	if (v8_ends_with_call(code, end - V8_AWAIT_TAIL, wait))
		return 1;
	/* What keeps the result, in the next register, names that, where there are many. */
	return code[end - V8_AWAIT_TAIL] == (__u8)(first - 1) &&
	       v8_ends_with_call(code, end - V8_AWAIT_TAIL - 1, wait);
}

/* The code of a function, or of who has it: compiled code without optimization. 0: not found. */
static __always_inline __u64 v8_bytecode(const struct runtime_v8 *v8, __u64 function)
{
	__u64 code = v8_word(v8_word(function, v8->shared), V8_SHARED_CODE);

	if (v8_type(code) == v8->bytecode)
		return code;
#pragma clang loop unroll(disable)
	for (__u32 i = 1; i <= V8_CODE_WORDS; i++) {
		__u64 word = v8_word(code, i * V8_WORD);

		if (v8_type(word) == v8->bytecode)
			return word;
	}
	return 0;
}

/* Does this async function wait for what it has called? */
VERIFIED_ALONE int v8_awaits_call(const struct runtime_v8 *v8, __u64 object)
{
	__u8 code[V8_AWAIT_BYTES];
	__u64 bytecode;

	if (!v8)
		return 0;
	bytecode = v8_bytecode(v8, v8_word(object, V8_ASYNC_FUNCTION));
	if (!bytecode)
		return 0;
	bytecode += v8_number(v8_word(object, V8_ASYNC_PLACE)) - V8_AWAIT_BYTES;
	return !bpf_probe_read_user(code, sizeof(code), (const void *)bytecode) &&
	       (v8_code_calls(code, V8_AWAIT_BYTES) || v8_code_calls(code, V8_AWAIT_BYTES - 1));
}

#endif
