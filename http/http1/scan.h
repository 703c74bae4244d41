/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Looking at a window, eight bytes at a time.
 *
 * In a mask the high bit of a byte says that the byte is meant; only the lowest one is exact. Every
 * index is masked to the window right before the load, which is all that the verifier needs to
 * know.
 */
#ifndef CTXPROP_HTTP1_SCAN_H
#define CTXPROP_HTTP1_SCAN_H

#include "../cursor.h"
#include "state.h"

#define HTTP1_EACH(byte) (0x0101010101010101ull * (byte))

/* Up to eight characters as a word that was loaded from them. */
#define HTTP1_TEXT(a, b, c, d, e, f, g, h)                                                         \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/* How many bytes stand before the one that the lowest bit of a mask marks; 8: none is marked. */
HTTP1_INLINE __u32 http1_before(__u64 mask)
{
	__u64 before = ((mask - 1) & ~mask) >> 7 & HTTP1_EACH(0x01);

	return before * HTTP1_EACH(0x01) >> 56;
}

/* Bytes under 0x20. */
HTTP1_INLINE __u64 http1_controls(__u64 word)
{
	return (word - HTTP1_EACH(0x20)) & ~word & HTTP1_EACH(0x80);
}

/* Bytes that are no capital letters. */
HTTP1_INLINE __u64 http1_no_capital(__u64 word)
{
	return ((word - HTTP1_EACH('A')) | (word + HTTP1_EACH(0x7f - 'Z')) | word) &
	       HTTP1_EACH(0x80);
}

/* Bytes that a request target cannot have: up to SP, and DEL. */
HTTP1_INLINE __u64 http1_no_target(__u64 word)
{
	__u64 del = word ^ HTTP1_EACH(0x7f);

	return ((word - HTTP1_EACH(0x21)) | (del - HTTP1_EACH(0x01))) & ~word & HTTP1_EACH(0x80);
}

/* Bytes that end a field name: the colon, and what no name has (up to SP, and beyond ASCII). */
HTTP1_INLINE __u64 http1_no_name(__u64 word)
{
	__u64 colon = word ^ HTTP1_EACH(':');

	return ((word - HTTP1_EACH(0x21)) | (colon - HTTP1_EACH(0x01)) | word) & HTTP1_EACH(0x80);
}

/*
 * Move on to the first byte that `stops` marks, PROTOCOL_SCAN_WORDS words at most. Returns
 * whether the cursor stands on such a byte. What lies behind `len` is looked at, too, and does not
 * count: that is cheaper than to ask at each word. Unrolled, it takes the verifier less. The place
 * grows word by word: made of the number of words, it would have one known value on each way out
 * of the loop, and the verifier would follow all of them.
 */
HTTP1_INLINE int http1_find(struct cursor *c, __u64 (*stops)(__u64 word))
{
	const __u8 *from = cursor_at(c);
	__u64 mask = 0;
	__u32 i = c->i;

#ifdef __clang__
#pragma clang loop unroll(full)
#endif
	for (__u32 n = 0; n < PROTOCOL_SCAN_WORDS; n++) {
		mask = stops(word_load(from + (__u64)8 * n));
		if (mask)
			break;
		i += 8;
		PROTOCOL_AS_IT_IS(i);
	}
	c->i = i + (http1_before(mask) & 7); /* & 7: where there is none, i is at the end */
	if (!cursor_is_empty(c))
		return mask != 0;
	c->i = c->len;
	return 0;
}

/* Collect bytes in `word` until it holds `want` (at most 8). Returns whether it does. */
HTTP1_INLINE int http1_collect(struct http1 *h, struct cursor *c, __u32 want)
{
	__u32 n = want - h->pos, left = cursor_left(c);

	if (cursor_is_empty(c))
		return 0;
	if (n > left)
		n = left;
	h->word |= word_low(cursor_word(c), n) << (8 * h->pos & 63);
	h->pos += n;
	c->i += n;
	return h->pos == want;
}

/* A character of a method or a name (RFC 9110, 5.6.2). */
HTTP1_INLINE int http1_is_token(__u8 byte)
{
	/* ! # $ % & ' * + - . 0-9  and  A-Z ^ _ ` a-z | ~ */
	const __u64 low = 0x03ff6cfa00000000ull, high = 0x57ffffffc7fffffeull;
	__u8 letter = (byte | 0x20) - 'a';

	if (letter < 26)
		return 1;
	if (byte >= 128)
		return 0;
	return ((byte < 64 ? low >> byte : high >> (byte - 64)) & 1) != 0;
}

HTTP1_INLINE int http1_is_blank(__u8 byte)
{
	return byte == ' ' || byte == '\t';
}

#endif
