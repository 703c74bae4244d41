/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The traceparent header of W3C Trace Context Level 2: its line, written in aligned words, and its
 * value, read.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_TRACEPARENT_H
#define CTXPROP_TRACEPARENT_H

#include <linux/types.h>
#include "edits.h"
#include "word.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words below are little endian");

/* "traceparent: " + value + CRLF */
#define TRACEPARENT_LINE_LEN 70
#define TRACEPARENT_SAMPLED  0x01
#define TRACEPARENT_RANDOM   0x02 /* Level 2: the trace id was drawn at random */

/* A line, padded with zeros to whole words. */
struct traceparent_line {
	__u64 word[9];
};
_Static_assert(sizeof(struct traceparent_line) >= TRACEPARENT_LINE_LEN, "line fits its words");

/* Four bytes as eight lower-case hex digits, both in memory order. */
static inline __u64 traceparent_hex(__u32 bytes)
{
	const __u64 ones = 0x0101010101010101ull, low = 0x000f000f000f000full;
	__u64 v = bytes;

	/* One byte to each 16-bit lane, then one nibble to each byte. */
	v = (v | v << 16) & 0x0000ffff0000ffffull;
	v = (v | v << 8) & 0x00ff00ff00ff00ffull;
	v = (v >> 4 & low) | (v & low) << 8;
	/* '0' + nibble, and 'a' - '0' - 10 more where the nibble is above 9. */
	return v + 0x30 * ones + ((v + 6 * ones) >> 4 & ones) * ('a' - '0' - 10);
}

/* Trace id and span id of an edit, one behind the other. */
static inline const __u8 *traceparent_ids(const struct edit *edit)
{
	_Static_assert(__builtin_offsetof(struct edit, span_id) ==
			   __builtin_offsetof(struct edit, trace_id) + 16,
		       "ids follow each other");
	return (const __u8 *)edit + __builtin_offsetof(struct edit, trace_id);
}

/* Four bytes of an id; ids are aligned in struct edit. */
static inline __u32 traceparent_load32(const __u8 *p)
{
	__u32 v;

	__builtin_memcpy(&v, __builtin_assume_aligned(p, sizeof(v)), sizeof(v));
	return v;
}

/*
 * Write the line "traceparent: 00-<trace id>-<span id>-<flags>\r\n" of an edit. In place, not as a
 * function: it is part of each edit, and to return costs more than a word of it.
 */
static inline __attribute__((always_inline)) void traceparent_write(struct traceparent_line *line,
								    const struct edit *edit)
{
	__u64 flags = traceparent_hex(edit->trace_flags) & 0xffff, span_hi, span_lo;
	const __u8 *ids = traceparent_ids(edit);

	line->word[0] = 0x7261706563617274ull; /* "tracepar" */
	line->word[1] = 0x2d3030203a746e65ull; /* "ent: 00-" */
	/* As a loop: to fetch the code once more for each word takes longer. */
#ifdef __clang__
#pragma clang loop unroll(disable)
#endif
	for (__u64 i = 0; i < 6; i++)
		line->word[2 + i] = traceparent_hex(traceparent_load32(ids + 4 * i));
	span_hi = line->word[6];
	span_lo = line->word[7];
	line->word[6] = '-' | span_hi << 8;
	line->word[7] = span_hi >> 56 | span_lo << 8;
	line->word[8] = span_lo >> 56 | '-' << 8 | flags << 16 | (__u64)'\r' << 32 |
			(__u64)'\n'
			    << 40;
}

/*
 * Write the same as a field of HTTP/2, FIELD_LEN bytes: a literal without indexing, whose name is
 * coded and whose value is not (RFC 7541, 6.2.2). It touches no table of either side.
 */
static inline __attribute__((always_inline)) void
traceparent_write_field(struct traceparent_line *line, const struct edit *edit)
{
	traceparent_write(line, edit);
	/* Its front is two bytes shorter than "traceparent: ". */
	for (int i = 0; i < 8; i++)
		line->word[i] = line->word[i] >> 16 | line->word[i + 1] << 48;
	line->word[8] = line->word[8] >> 16 & 0xffff;
	line->word[0] = 0x851d6b21834d8800ull;
	line->word[1] = (line->word[1] & ~0xffffffull) | 0x373fa9;
}

/*
 * The value of a traceparent field, as far as it has passed: without the blanks before it, but
 * with those behind. One byte more than a value of version 00 has is enough to read any version.
 */
#define TRACEPARENT_TEXT_MAX (TRACEPARENT_VALUE_LEN + 1)

struct traceparent_text {
	__u8 byte[120]; /* TRACEPARENT_TEXT_MAX, and slack for the verifier */
	__u8 len;       /* bytes that are held */
	__u8 more;      /* something other than blanks follows them */
	__u8 reserved[6];
};
_Static_assert(sizeof(struct traceparent_text) == 128, "traceparent_text is part of a flow");

/* The ids and flags that a value states. */
struct traceparent {
	__u8 trace_id[16] __attribute__((aligned(8)));
	__u8 span_id[8]; /* of the caller */
	__u8 flags;      /* as received */
	__u8 reserved[7];
};

/* How many of the next `n` bytes of the value are to be put at byte[len], and counted in len. */
static inline __u32 traceparent_wants(const struct traceparent_text *text, __u32 n)
{
	__u32 room = TRACEPARENT_TEXT_MAX - text->len;

	return n < room ? n : room;
}

static inline int traceparent_is_blank(__u8 byte)
{
	return byte == ' ' || byte == '\t';
}

/* The next byte of a value of which everything wanted is held. */
static inline void traceparent_excess(struct traceparent_text *text, __u8 byte)
{
	if (!traceparent_is_blank(byte))
		text->more = 1;
}

/*
 * Eight lower-case hex digits as four bytes, both in memory order. Other characters give some
 * number or other, which does not read as the same characters: add what differs to `ret_bad`.
 */
static inline __u32 traceparent_unhex(__u64 text, __u64 *ret_bad)
{
	const __u64 ones = 0x0101010101010101ull;
	/* 'a' is 0x61: its low nibble and 9 are 10. */
	__u64 v = (text & 0x0f * ones) + 9 * (text >> 6 & ones);

	v = (v << 4 | v >> 8) & 0x00ff00ff00ff00ffull;
	v = (v | v >> 8) & 0x0000ffff0000ffffull;
	v = (v | v >> 16) & 0xffffffffull;
	*ret_bad |= traceparent_hex(v) ^ text;
	/* One word after the other: side by side they need more stack than BPF code has. */
	__asm__ volatile("" : "+r"(v), "+r"(*ret_bad) : : "memory");
	return v;
}

/* Two hex digits at `from`. */
static inline __u8 traceparent_unhex_byte(const __u8 *from, __u64 *ret_bad)
{
	const __u64 zeros = 0x3030303030300000ull; /* six '0' behind */

	return traceparent_unhex(zeros | (__u64)from[1] << 8 | from[0], ret_bad);
}

/* Does the value end with its first `len` characters? Blanks behind it are not part of it. */
static inline int traceparent_ends(const struct traceparent_text *text)
{
	return text->len == TRACEPARENT_VALUE_LEN ||
	       (traceparent_is_blank(text->byte[TRACEPARENT_VALUE_LEN]) && !text->more);
}

/*
 * Read a whole value. Returns 0, or -1 when it is not valid: then nothing of it may be used
 * (Level 2, 3.2). A higher version is read by its first fields, which another may follow.
 */
static inline int traceparent_read(const struct traceparent_text *text, struct traceparent *ret)
{
	const __u8 *t = text->byte;
	__u32 *trace = (__u32 *)ret->trace_id, *span = (__u32 *)ret->span_id;
	__u64 bad = 0;
	__u8 version;

	if (text->len < TRACEPARENT_VALUE_LEN)
		return -1;
	version = traceparent_unhex_byte(t, &bad);
	trace[0] = traceparent_unhex(word_load(t + 3), &bad);
	trace[1] = traceparent_unhex(word_load(t + 11), &bad);
	trace[2] = traceparent_unhex(word_load(t + 19), &bad);
	trace[3] = traceparent_unhex(word_load(t + 27), &bad);
	span[0] = traceparent_unhex(word_load(t + 36), &bad);
	span[1] = traceparent_unhex(word_load(t + 44), &bad);
	ret->flags = traceparent_unhex_byte(t + 53, &bad);
	bad |= (t[2] ^ '-') | (t[35] ^ '-') | (t[52] ^ '-');
	if (bad || version == 0xff)
		return -1;
	if (!(trace[0] | trace[1] | trace[2] | trace[3]) || !(span[0] | span[1]))
		return -1;
	if (traceparent_ends(text))
		return 0;
	return version && t[TRACEPARENT_VALUE_LEN] == '-' ? 0 : -1;
}

#endif
