/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Huffman's code of header fields (RFC 7541, 5.2 and appendix B), as far as a traceparent is
 * written in it: hexadecimal digits and hyphens, of five and six bits. Any other character makes a
 * value that is none.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_HTTP2_CODE_H
#define CTXPROP_HTTP2_CODE_H

#include "state.h"

/* A string that is decoded, byte by byte; all zero is a fresh one. */
struct http2_code {
	__u32 bits;  /* that were not decoded yet are the lowest */
	__u16 count; /* of these */
	__u16 bad;   /* 1: a character that is not known here */
};

/* Characters of a byte, at most. */
#define HTTP2_CODE_CHARACTERS 2

HTTP2_INLINE void http2_code_feed(struct http2_code *c, __u8 byte)
{
	c->bits = c->bits << 8 | byte;
	c->count += 8;
}

/* The character of a code of five bits; 0: there is none. */
HTTP2_INLINE __u8 http2_code_short(__u32 code)
{
	const __u64 characters = 0x656361323130; /* "012ace", the first is the lowest */

	return code < 6 ? (__u8)(characters >> (8 * code)) : 0;
}

/* The same of six bits. */
HTTP2_INLINE __u8 http2_code_long(__u32 code)
{
	if (code >= 0x19 && code <= 0x1f)
		return (__u8)('3' + (code - 0x19));
	if (code == 0x16)
		return '-';
	return code == 0x23 ? 'b' : code == 0x24 ? 'd' : code == 0x25 ? 'f' : 0;
}

/* The next character, if all its bits are at hand; 0: they are not, or nothing more is known. */
HTTP2_INLINE __u8 http2_code_next(struct http2_code *c)
{
	__u32 count = c->count & 31;
	__u8 character;

	if (c->bad || count < 5)
		return 0;
	character = http2_code_short(c->bits >> (count - 5) & 31);
	if (character) {
		c->count = count - 5;
		return character;
	}
	character = count < 6 ? 0 : http2_code_long(c->bits >> (count - 6) & 63);
	if (character)
		c->count = count - 6;
	else if (count >= 8) /* as many as padding never has */
		c->bad = 1;
	return character;
}

/* Was that the whole string? Ones fill up its last byte. */
HTTP2_INLINE int http2_code_ends(const struct http2_code *c)
{
	__u32 rest = (1u << (c->count & 7)) - 1;

	return !c->bad && c->count < 8 && (c->bits & rest) == rest;
}

#endif
