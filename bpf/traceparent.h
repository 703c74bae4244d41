/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The traceparent header of W3C Trace Context Level 2: its line, written in aligned words.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_TRACEPARENT_H
#define CTXPROP_TRACEPARENT_H

#include <linux/types.h>
#include "edits.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "words below are little endian");

#define TRACEPARENT_VALUE_LEN 55
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

/* Four bytes of an id; ids are aligned in struct edit. */
static inline __u32 traceparent_load32(const __u8 *p)
{
	__u32 v;

	__builtin_memcpy(&v, __builtin_assume_aligned(p, sizeof(v)), sizeof(v));
	return v;
}

/* Write the line "traceparent: 00-<trace id>-<span id>-<flags>\r\n" of an edit. */
static inline void traceparent_write(struct traceparent_line *line, const struct edit *edit)
{
	__u64 span_hi = traceparent_hex(traceparent_load32(edit->span_id));
	__u64 span_lo = traceparent_hex(traceparent_load32(edit->span_id + 4));
	__u64 flags = traceparent_hex(edit->trace_flags) & 0xffff;

	line->word[0] = 0x7261706563617274ull; /* "tracepar" */
	line->word[1] = 0x2d3030203a746e65ull; /* "ent: 00-" */
	line->word[2] = traceparent_hex(traceparent_load32(edit->trace_id));
	line->word[3] = traceparent_hex(traceparent_load32(edit->trace_id + 4));
	line->word[4] = traceparent_hex(traceparent_load32(edit->trace_id + 8));
	line->word[5] = traceparent_hex(traceparent_load32(edit->trace_id + 12));
	line->word[6] = '-' | span_hi << 8;
	line->word[7] = span_hi >> 56 | span_lo << 8;
	line->word[8] = span_lo >> 56 | '-' << 8 | flags << 16 | (__u64)'\r' << 32 |
			(__u64)'\n'
			    << 40;
}

#endif
