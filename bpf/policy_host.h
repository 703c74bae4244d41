/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The Host field of a request as numbers that rules can be looked up by (policy.h): one for the
 * whole name, and one for each domain around it ("example.com" and "com" of "api.example.com").
 *
 * Done in steps, so that a BPF program can loop over them.
 */
#ifndef CTXPROP_POLICY_HOST_H
#define CTXPROP_POLICY_HOST_H

#include "http1/scan.h"
#include "policy.h"

/* Bytes of a head that are looked through; the field is nearly always its first. */
#define POLICY_HEAD_MAX HTTP1_WINDOW
/* A name longer than this is none that a rule could say. */
#define POLICY_HOST_MAX 127
/* Domains around a name that are looked at, from the outermost one. */
#define POLICY_DOMAINS_MAX (POLICY_NESTED_MAX - 1)

/* The search for the field in a head, whose bytes stand in a window of POLICY_HEAD_MAX + 8. */
struct policy_host {
	__u32 len;     /* bytes of the head in the window */
	__u32 at;      /* how far the search has come */
	__u32 begins;  /* 1: a line begins there */
	__u32 fields;  /* Host fields found */
	__u32 first;   /* the name */
	__u32 end;     /* and the place behind it */
	__u32 domains; /* found so far */
	__u32 ends;    /* 1: the end of the name was found */
	__u32 reserved;
	__u64 hash;
	__u64 number[POLICY_NESTED_MAX]; /* the domains, outermost first; the name itself last */
};

/* The field lines of a head of `len` bytes are to be looked through. */
static inline void policy_host_begin(struct policy_host *h, __u32 len)
{
	__builtin_memset(h, 0, sizeof(*h));
	h->len = len;
}

/* On to the next line, or some way towards it. Returns 1 when there is no more. */
HTTP1_INLINE int policy_host_find(struct policy_host *h, const __u8 *window)
{
	struct http1_cursor c = {.window = window, .i = h->at, .len = h->len};

	if (http1_empty(&c))
		return 1;
	if (h->begins && c.i + 5 <= c.len &&
	    http1_low_bytes(http1_word(&c) | HTTP1_EACH(0x20), 5) ==
		HTTP1_TEXT('h', 'o', 's', 't', ':', 0, 0, 0)) {
		h->fields++;
		h->first = h->end = c.i + 5;
	}
	h->begins = 0;
	if (http1_find(&c, http1_controls)) {
		h->begins = http1_byte(&c) == '\n';
		c.i++;
	}
	h->at = c.i;
	return 0;
}

/* One byte of the value: where do the name begin and end? Returns 1 when that is known. */
HTTP1_INLINE int policy_host_measure(struct policy_host *h, const __u8 *window)
{
	__u32 at = h->end;
	__u8 byte;

	if (at >= h->len)
		return 1;
	byte = window[at & (HTTP1_WINDOW - 1)];
	if (at == h->first && http1_is_blank(byte)) {
		h->first = h->end = at + 1;
		return 0;
	}
	if (byte <= ' ' || byte == ':') {
		h->ends = 1;
		return 1;
	}
	h->end = at + 1;
	return 0;
}

/* A dot at the end belongs to the root domain, which nobody writes. */
HTTP1_INLINE void policy_host_measured(struct policy_host *h, const __u8 *window)
{
	if (h->end > h->first && window[(h->end - 1) & (HTTP1_WINDOW - 1)] == '.')
		h->end--;
	h->hash = 0xcbf29ce484222325ULL;
}

/* What a hash comes to: names and domains never meet, and none is 0. */
HTTP1_INLINE __u64 policy_host_number(__u64 hash, __u32 whole)
{
	return hash << 2 | 2 | whole;
}

/* One more byte, from the end of the name to its beginning. Returns 1 at the beginning. */
HTTP1_INLINE int policy_host_take(struct policy_host *h, const __u8 *window)
{
	__u8 byte;

	if (h->end <= h->first)
		return 1;
	h->end--;
	byte = window[h->end & (HTTP1_WINDOW - 1)];
	if (byte == '.' && h->domains < POLICY_DOMAINS_MAX)
		h->number[h->domains++ & (POLICY_NESTED_MAX - 1)] = policy_host_number(h->hash, 0);
	if (byte >= 'A' && byte <= 'Z')
		byte |= 0x20;
	h->hash = (h->hash ^ byte) * 0x100000001b3ULL;
	return 0;
}

/* All of the name was taken: the numbers, innermost first, behind the last one 0. */
HTTP1_INLINE void policy_host_nested(struct policy_host *h, __u64 *ret)
{
	h->number[h->domains & (POLICY_NESTED_MAX - 1)] = policy_host_number(h->hash, 1);
	for (__u32 i = 0; i < POLICY_NESTED_MAX; i++)
		ret[i] =
		    i <= h->domains ? h->number[(h->domains - i) & (POLICY_NESTED_MAX - 1)] : 0;
}

#endif
