/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The host that a request is for, as numbers that rules can be looked up by (policy.h): one for the
 * whole name, and one for each domain around it ("example.com" and "com" of "api.example.com").
 *
 * A host stands in the Host field, or in a target in absolute form, which then counts instead
 * (RFC 9112, 3.2.2). The head is read in pieces, cut as they may be; what is kept between two is a
 * struct policy_host. Done in steps, so that a BPF program can loop over them.
 */
#ifndef CTXPROP_POLICY_HOST_H
#define CTXPROP_POLICY_HOST_H

#include "http/http1/scan.h"
#include "policy.h"

/* A piece of a head: it stands in a window of so many bytes, and 8 more. */
#define POLICY_PIECE_MAX PROTOCOL_WINDOW
/* A name longer than this is none that a rule could say. */
#define POLICY_HOST_MAX 127
/* Domains around a name that are looked at, from the outermost one. */
#define POLICY_DOMAINS_MAX (POLICY_NESTED_MAX - 1)

/* What comes next in a head. */
enum policy_host_state {
	POLICY_HOST_METHOD,
	POLICY_HOST_TARGET,  /* its scheme, if it has one */
	POLICY_HOST_SLASHES, /* that stand before an authority */
	POLICY_HOST_FIELD,   /* a field line: is it a Host? */
	POLICY_HOST_BEFORE,  /* blanks before the name */
	POLICY_HOST_NAME,
	POLICY_HOST_PORT,
	POLICY_HOST_BEHIND, /* blanks */
	POLICY_HOST_REST,   /* of a line, which says nothing more */
};

enum policy_host_flags {
	POLICY_HOST_ABSOLUTE =
	    1 << 0,                   /* the name is the target's: that of a field does not count */
	POLICY_HOST_LITERAL = 1 << 1, /* within an address in brackets, whose colons are its own */
	POLICY_HOST_ODD = 1 << 2,     /* no host that two readers would take alike */
};

/* As far as a head has been read. All zero: not at all. */
struct policy_host {
	__u8 state;  /* enum policy_host_state */
	__u8 flags;  /* enum policy_host_flags */
	__u8 fields; /* Host fields, up to two */
	__u8 pos;    /* letters of a field's name, slashes */
	__u8 len;    /* of the name */
	__u8 reserved[3];
	__u8 name[POLICY_HOST_MAX + 1]; /* in lower case */
};
_Static_assert(sizeof(struct policy_host) == 136, "policy_host is kept in a map");

HTTP1_INLINE void policy_host_enter(struct policy_host *h, enum policy_host_state state)
{
	h->state = state;
	h->pos = 0;
}

/* A name may begin. */
HTTP1_INLINE void policy_host_begin_name(struct policy_host *h, enum policy_host_state state)
{
	policy_host_enter(h, state);
	h->flags &= ~POLICY_HOST_LITERAL;
	h->len = 0;
}

/* Nothing more of this line. */
HTTP1_INLINE void policy_host_leave(struct policy_host *h, __u8 byte)
{
	policy_host_enter(h, byte == '\n' ? POLICY_HOST_FIELD : POLICY_HOST_REST);
}

HTTP1_INLINE void policy_host_odd(struct policy_host *h, __u8 byte)
{
	h->flags |= POLICY_HOST_ODD;
	policy_host_leave(h, byte);
}

/* "http:" or any other scheme. What begins with a slash or a star has none. */
HTTP1_INLINE void policy_host_in_target(struct policy_host *h, __u8 byte)
{
	if (byte == ':' && h->pos)
		policy_host_enter(h, POLICY_HOST_SLASHES);
	else if (byte <= ' ' || byte == '/' || byte == '*' || byte == '?')
		policy_host_leave(h, byte);
	else
		h->pos = 1;
}

HTTP1_INLINE void policy_host_in_slashes(struct policy_host *h, __u8 byte)
{
	if (byte != '/') {
		policy_host_leave(h, byte);
		return;
	}
	if (++h->pos < 2)
		return;
	h->flags |= POLICY_HOST_ABSOLUTE;
	policy_host_begin_name(h, POLICY_HOST_NAME);
}

/* One more letter of "host:"? */
HTTP1_INLINE void policy_host_in_field(struct policy_host *h, __u8 byte)
{
	const __u64 name = HTTP1_TEXT('h', 'o', 's', 't', 0, 0, 0, 0);

	if (h->pos < 4 && (byte | 0x20) == (__u8)(name >> (8 * h->pos & 63))) {
		h->pos++;
		return;
	}
	if (h->pos < 4 || byte != ':') {
		policy_host_leave(h, byte);
		return;
	}
	if (h->fields < 2)
		h->fields++;
	if (h->flags & POLICY_HOST_ABSOLUTE)
		policy_host_leave(h, byte);
	else
		policy_host_begin_name(h, POLICY_HOST_BEFORE);
}

/* Does a byte end the authority of a target? */
HTTP1_INLINE int policy_host_ends_authority(const struct policy_host *h, __u8 byte)
{
	return (h->flags & POLICY_HOST_ABSOLUTE) &&
	       (byte <= ' ' || byte == '/' || byte == '?' || byte == '#');
}

/* What stood before an @ was no host but a user; only a target may have one. */
HTTP1_INLINE void policy_host_at_sign(struct policy_host *h, __u8 byte)
{
	if (h->flags & POLICY_HOST_ABSOLUTE)
		policy_host_begin_name(h, POLICY_HOST_NAME);
	else
		policy_host_odd(h, byte);
}

HTTP1_INLINE void policy_host_behind(struct policy_host *h, __u8 byte)
{
	if (byte == '\r' || byte == '\n')
		policy_host_leave(h, byte);
	else if (http1_is_blank(byte))
		policy_host_enter(h, POLICY_HOST_BEHIND);
	else
		policy_host_odd(h, byte);
}

HTTP1_INLINE void policy_host_in_port(struct policy_host *h, __u8 byte)
{
	if (byte == '@')
		policy_host_at_sign(h, byte);
	else if (policy_host_ends_authority(h, byte))
		policy_host_leave(h, byte);
	else if (!(h->flags & POLICY_HOST_ABSOLUTE) && (byte < '0' || byte > '9'))
		policy_host_behind(h, byte);
}

HTTP1_INLINE void policy_host_keep(struct policy_host *h, __u8 byte)
{
	if (byte == '[' && !h->len)
		h->flags |= POLICY_HOST_LITERAL;
	if (byte == ']')
		h->flags &= ~POLICY_HOST_LITERAL;
	if (h->len >= POLICY_HOST_MAX) {
		policy_host_odd(h, byte);
		return;
	}
	if (byte >= 'A' && byte <= 'Z')
		byte |= 0x20;
	h->name[h->len & POLICY_HOST_MAX] = byte;
	h->len++;
}

HTTP1_INLINE void policy_host_in_name(struct policy_host *h, __u8 byte)
{
	h->state = POLICY_HOST_NAME;
	if (byte == ':' && !(h->flags & POLICY_HOST_LITERAL))
		policy_host_enter(h, POLICY_HOST_PORT);
	else if (byte == '@')
		policy_host_at_sign(h, byte);
	else if (policy_host_ends_authority(h, byte))
		policy_host_leave(h, byte);
	else if (byte <= ' ')
		policy_host_behind(h, byte);
	else
		policy_host_keep(h, byte);
}

HTTP1_INLINE void policy_host_byte(struct policy_host *h, __u8 byte)
{
	switch (h->state) {
	case POLICY_HOST_METHOD:
		if (byte == ' ')
			policy_host_enter(h, POLICY_HOST_TARGET);
		break;
	case POLICY_HOST_TARGET:
		policy_host_in_target(h, byte);
		break;
	case POLICY_HOST_SLASHES:
		policy_host_in_slashes(h, byte);
		break;
	case POLICY_HOST_FIELD:
		policy_host_in_field(h, byte);
		break;
	case POLICY_HOST_BEFORE:
		if (!http1_is_blank(byte))
			policy_host_in_name(h, byte);
		break;
	case POLICY_HOST_NAME:
		policy_host_in_name(h, byte);
		break;
	case POLICY_HOST_PORT:
		policy_host_in_port(h, byte);
		break;
	case POLICY_HOST_BEHIND:
		policy_host_behind(h, byte);
		break;
	}
}

/*
 * Read some of window[*i..len), at least one byte, and go on there. The rest of a line is passed
 * over in large steps.
 */
HTTP1_INLINE void policy_host_read(struct policy_host *h, const struct protocol_window *window,
				   __u32 *i, __u32 len)
{
	struct cursor c = {.window = window, .i = *i, .len = len};

	if (h->state != POLICY_HOST_REST)
		policy_host_byte(h, window->byte[c.i++ & (PROTOCOL_WINDOW - 1)]);
	if (h->state == POLICY_HOST_REST && http1_find(&c, http1_controls)) {
		policy_host_leave(h, cursor_byte(&c));
		c.i++;
	}
	*i = c.i;
}

/* All the field lines were read: is it clear what the host is, or that there is none? */
HTTP1_INLINE int policy_host_is_clear(const struct policy_host *h)
{
	return h->state == POLICY_HOST_FIELD && h->fields < 2 && !(h->flags & POLICY_HOST_ODD);
}

/* The walk over a name, from its end to its beginning. */
struct policy_labels {
	__u32 at;
	__u32 domains; /* found so far */
	__u64 hash;
	__u64 number[POLICY_NESTED_MAX]; /* the domains, outermost first; the name itself last */
};

HTTP1_INLINE void policy_labels_begin(struct policy_labels *l, const struct policy_host *h)
{
	__builtin_memset(l, 0, sizeof(*l));
	l->at = h->len;
	/* A dot at the end belongs to the root domain, which nobody writes. */
	if (l->at && h->name[(l->at - 1) & POLICY_HOST_MAX] == '.')
		l->at--;
	l->hash = 0xcbf29ce484222325ULL;
}

/* What a hash comes to: names and domains never meet, and none is 0. */
HTTP1_INLINE __u64 policy_host_number(__u64 hash, __u32 whole)
{
	return hash << 2 | 2 | whole;
}

/* One more byte. Returns 1 at the beginning of the name. */
HTTP1_INLINE int policy_labels_take(struct policy_labels *l, const struct policy_host *h)
{
	__u8 byte;

	if (!l->at)
		return 1;
	l->at--;
	byte = h->name[l->at & POLICY_HOST_MAX];
	if (byte == '.' && l->domains < POLICY_DOMAINS_MAX)
		l->number[l->domains++ & (POLICY_NESTED_MAX - 1)] = policy_host_number(l->hash, 0);
	l->hash = (l->hash ^ byte) * 0x100000001b3ULL;
	return 0;
}

/* All of the name was taken: the numbers, innermost first, behind the last one 0. */
HTTP1_INLINE void policy_labels_nested(struct policy_labels *l, __u64 *ret)
{
	l->number[l->domains & (POLICY_NESTED_MAX - 1)] = policy_host_number(l->hash, 1);
	for (__u32 i = 0; i < POLICY_NESTED_MAX; i++)
		ret[i] =
		    i <= l->domains ? l->number[(l->domains - i) & (POLICY_NESTED_MAX - 1)] : 0;
}

#endif
