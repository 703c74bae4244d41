/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* The part of a window that is still to be read. Pure: compiled for BPF and natively. */
#ifndef CTXPROP_CURSOR_H
#define CTXPROP_CURSOR_H

#include "reading.h"
#include "word.h"

/* The number is computed here: the compiler may not put it together of others further down. */
#ifdef __bpf__
#define PROTOCOL_AS_IT_IS(number) asm volatile("" : "+r"(number))
#else
#define PROTOCOL_AS_IT_IS(number)
#endif

/* The part of a window that is still to be read. */
struct cursor {
	const struct protocol_window *window;
	__u32 i;
	__u32 len;
};

/*
 * Bytes that are left. A number of its own: what a comparison of `i` with `len` says about both
 * would tell apart, to the verifier, all ways that lead to a stage.
 */
PROTOCOL_INLINE __u32 cursor_left(const struct cursor *c)
{
	__u32 left = c->len - c->i;

	PROTOCOL_AS_IT_IS(left);
	return left;
}

PROTOCOL_INLINE int cursor_is_empty(const struct cursor *c)
{
	return (__s32)cursor_left(c) <= 0;
}

PROTOCOL_INLINE __u8 cursor_byte(const struct cursor *c)
{
	return c->window->byte[c->i & (PROTOCOL_WINDOW - 1)];
}

/* Where the cursor stands. */
PROTOCOL_INLINE const __u8 *cursor_at(const struct cursor *c)
{
	return c->window->byte + (c->i & (PROTOCOL_WINDOW - 1));
}

/* The same at the cursor; bytes at or beyond `len` are left-overs. */
PROTOCOL_INLINE __u64 cursor_word(const struct cursor *c)
{
	return word_load(cursor_at(c));
}

/* The low `n` bytes of a word; 1 <= n <= 8. */
PROTOCOL_INLINE __u64 word_low(__u64 word, __u32 n)
{
	return word & (~0ull >> ((64 - 8 * n) & 63));
}

#endif
