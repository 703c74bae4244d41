/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The tracestate header of W3C Trace Context Level 2 (3.3): its value is checked and kept byte by
 * byte as it passes, and then is a line that can be sent on as it stands.
 *
 * The members are sent on unchanged and in their order. Of a value longer than can be kept the
 * last members are left out, never a part of one.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_TRACESTATE_H
#define CTXPROP_TRACESTATE_H

#include <linux/types.h>

/*
 * Where the value begins in `byte`: behind "tracestate: ", which begins at 4, or "tracestate:  ",
 * which begins at 3. The second blank makes the length even (which keeps the parity of what
 * follows, see edits.h). It could not stand behind the value: there are servers that take it for a
 * part.
 */
#define TRACESTATE_VALUE_AT 16
#define TRACESTATE_NAME_LEN 12
/* Characters of a value that are kept; no less than the specification asks for. */
#define TRACESTATE_VALUE_MAX 512
/* The longest value has an even length; CRLF. */
#define TRACESTATE_LINE_MAX (TRACESTATE_NAME_LEN + TRACESTATE_VALUE_MAX + 2)
/* The line in whole words. */
#define TRACESTATE_WORDS       ((TRACESTATE_LINE_MAX + 7) / 8)
#define TRACESTATE_MEMBERS_MAX 32
/* Characters of a key, and of a value of a member. */
#define TRACESTATE_PART_MAX 256

enum tracestate_phase {
	TRACESTATE_START, /* before a member */
	TRACESTATE_KEY,
	TRACESTATE_VALUE,
	TRACESTATE_AFTER, /* blanks that are not part of a value */
	TRACESTATE_INVALID,
};

/* All zero is a fresh one. */
struct tracestate {
	__u16 len;    /* of the line in `byte`, once it is finished; even */
	__u16 kept;   /* characters of the value in `byte` */
	__u16 whole;  /* of these: up to the end of the last member that is complete */
	__u16 part;   /* characters of the key or value at hand */
	__u16 blanks; /* at the end of the value at hand: part of it if more follows */
	__u16 solid;  /* characters kept up to the last one that is no such blank */
	__u8 members;
	__u8 phase; /* enum tracestate_phase */
	__u8 full;  /* characters were left out */
	__u8 start; /* of the line in `byte`, once it is finished; what follows it up to a whole
		     * word is zero */
	__u8 byte[TRACESTATE_VALUE_AT + 8 * TRACESTATE_WORDS - 8] __attribute__((aligned(8)));
};
_Static_assert(sizeof(struct tracestate) == 552, "tracestate is shared");

/* The place of a character among the 64 that its two highest bits choose. */
static inline int tracestate_in(__u8 byte, __u64 low, __u64 high)
{
	if (byte >= 128)
		return 0;
	return ((byte < 64 ? low >> byte : high >> (byte - 64)) & 1) != 0;
}

/* lcalpha / DIGIT: what a key begins with. */
static inline int tracestate_is_key_start(__u8 byte)
{
	return tracestate_in(byte, 0x03ff000000000000ull, 0x07fffffe00000000ull);
}

/* lcalpha / DIGIT / "_" / "-" / "*" / "/" / "@" */
static inline int tracestate_is_key(__u8 byte)
{
	return tracestate_in(byte, 0x03ffa40000000000ull, 0x07fffffe80000001ull);
}

/* 0x21 to 0x7e without "," and "=": what a value ends with. */
static inline int tracestate_is_value(__u8 byte)
{
	return byte > 0x20 && byte < 0x7f && byte != ',' && byte != '=';
}

/* A member begins, or the blanks and commas between two of them go on. */
static inline __u8 tracestate_at_start(struct tracestate *t, __u8 byte)
{
	if (byte == ' ' || byte == '\t' || byte == ',')
		return TRACESTATE_START;
	if (!tracestate_is_key_start(byte) || t->members >= TRACESTATE_MEMBERS_MAX)
		return TRACESTATE_INVALID;
	t->members++;
	t->part = 1;
	return TRACESTATE_KEY;
}

static inline __u8 tracestate_in_key(struct tracestate *t, __u8 byte)
{
	if (byte == '=') {
		t->part = t->blanks = 0;
		return TRACESTATE_VALUE;
	}
	if (!tracestate_is_key(byte) || t->part >= TRACESTATE_PART_MAX)
		return TRACESTATE_INVALID;
	t->part++;
	return TRACESTATE_KEY;
}

/* A value may contain blanks, but not end with one. */
static inline __u8 tracestate_in_value(struct tracestate *t, __u8 byte)
{
	if (byte == ' ') {
		/* More than a value can have do not count, but no value can follow them. */
		if (t->blanks < TRACESTATE_PART_MAX)
			t->blanks++;
		return TRACESTATE_VALUE;
	}
	if (byte == '\t' && t->part)
		return TRACESTATE_AFTER;
	if (byte == ',')
		return t->part ? TRACESTATE_START : TRACESTATE_INVALID;
	t->part += t->blanks + 1;
	t->blanks = 0;
	return tracestate_is_value(byte) && t->part <= TRACESTATE_PART_MAX ? TRACESTATE_VALUE
									   : TRACESTATE_INVALID;
}

static inline __u8 tracestate_after_value(__u8 byte)
{
	if (byte == ',')
		return TRACESTATE_START;
	return byte == ' ' || byte == '\t' ? TRACESTATE_AFTER : TRACESTATE_INVALID;
}

static inline __u8 tracestate_step(struct tracestate *t, __u8 byte)
{
	switch (t->phase) {
	case TRACESTATE_START:
		return tracestate_at_start(t, byte);
	case TRACESTATE_KEY:
		return tracestate_in_key(t, byte);
	case TRACESTATE_VALUE:
		return tracestate_in_value(t, byte);
	case TRACESTATE_AFTER:
		return tracestate_after_value(byte);
	default:
		return TRACESTATE_INVALID;
	}
}

/* Is a member complete with what is kept so far? */
static inline int tracestate_is_whole(const struct tracestate *t)
{
	return t->phase == TRACESTATE_AFTER || (t->phase == TRACESTATE_VALUE && t->part);
}

/* The next byte of the value; fields of one head are joined by a comma between them. */
static inline void tracestate_feed(struct tracestate *t, __u8 byte)
{
	int blank = byte == ' ' || byte == '\t';
	__u32 at = t->kept;

	/* What stands before the first member is not sent on. */
	if (!at && (blank || byte == ','))
		return;
	if (byte == ',' && tracestate_is_whole(t) && !t->full)
		t->whole = t->solid;
	t->phase = tracestate_step(t, byte);
	if (at >= TRACESTATE_VALUE_MAX) {
		t->full |= !blank && byte != ',';
		return;
	}
	t->byte[TRACESTATE_VALUE_AT + (at & (TRACESTATE_VALUE_MAX - 1))] = byte;
	t->kept = at + 1;
	if (!blank)
		t->solid = at + 1;
}

/* The name, colon and blanks that stand before a value of `len` characters. Returns where. */
static inline __u32 tracestate_name(struct tracestate *t, __u32 len)
{
	__u64 *start = (__u64 *)t->byte;

	if (len & 1) {
		start[0] = 0x6563617274000000ull; /* "trace", from 3 on */
		start[1] = 0x20203a6574617473ull; /* "state:  " */
		return 3;
	}
	start[0] = 0x6361727400000000ull; /* "trac", from 4 on */
	start[1] = 0x203a657461747365ull; /* "estate: " */
	return 4;
}

/* Write what stands around `len` characters of the value. Returns the length of the line. */
static inline __u32 tracestate_line(struct tracestate *t, __u32 len)
{
	__u32 at = TRACESTATE_VALUE_AT + len, start = tracestate_name(t, len);

	t->start = start;
	t->byte[at++] = '\r';
	t->byte[at++] = '\n';
	/* Whole words are copied and summed up. */
	for (__u32 i = 0; i < 3 && (at - start) & 7; i++) {
		t->byte[at++] = 0;
		t->byte[at++] = 0;
	}
	return TRACESTATE_NAME_LEN + len + (len & 1) + 2;
}

/*
 * The value is complete: make the line of it. Returns its length, 0 when nothing can be sent on:
 * there is no member, or the value is not valid (then `phase` is TRACESTATE_INVALID).
 */
static inline __u32 tracestate_finish(struct tracestate *t)
{
	__u32 len;

	if (tracestate_is_whole(t) && !t->full)
		t->whole = t->solid;
	if (t->phase == TRACESTATE_KEY || (t->phase == TRACESTATE_VALUE && !t->part))
		t->phase = TRACESTATE_INVALID;
	len = t->whole;
	if (t->phase == TRACESTATE_INVALID || !len)
		return t->len = 0;
	/* The verifier follows each of the two limits, but not what a compiler makes of both. */
	__asm__ volatile("" : "+r"(len));
	if (len > TRACESTATE_VALUE_MAX)
		return t->len = 0;
	return t->len = tracestate_line(t, len);
}

#endif
