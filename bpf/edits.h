/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The edit model: which bytes were added to a flow, and how its numbers map.
 *
 * The app stream is what the sender numbers, the wire stream what the receiver gets. An edit
 * stands immediately before app byte `at`; that byte and the edit are one wide byte of
 * len + 1 wire bytes. Edits are sorted by `at`, immutable once sent, and retire into `base`
 * when the peer has acknowledged byte `at`. All numbers are modulo 2^32.
 *
 * Other edits add nothing (len is 0) but change bytes from `at` on in place (change.h). They are
 * kept here for the sake of retransmissions, until the peer has acknowledged their last byte.
 *
 * Headers of HTTP/2 are one edit for all that end in one packet: the bytes from its first place to
 * its last are one wide thing. Numbers among them are for fields.h; what is said below of these is
 * as if all had been added at the first place: too little counts as acknowledged.
 *
 * No lock: one writer adds (the outbound side; packets of one direction come one at a time), any
 * number retire (the inbound side, on any CPU). The base and the index of the oldest edit stand
 * in one word, so that whoever reads them sees both before a retirement or both after it; the
 * answers to all questions below are the same in either case, for numbers that still matter.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_EDITS_H
#define CTXPROP_EDITS_H

#include <linux/types.h>

#define EDITS_MAX  16 /* in flight on one flow; a power of two */
#define EDITS_MASK (EDITS_MAX - 1)
/* What the edits of one flow that are in flight may come to: one packet may have to carry all. */
#define EDITS_BYTES_MAX 2048

enum edit_kind {
	EDIT_INSERT, /* a header */
	EDIT_PARENT, /* the value of a traceparent is another one */
	EDIT_CUT,    /* a field is renamed, and its value is void */
	EDIT_VOID,   /* nothing: it was not sent after all */
	EDIT_FIELDS, /* headers of HTTP/2, in all header blocks that end in one packet (fields.h):
			the first one behind byte `at`, and sent with it */
};

/* What an EDIT_CUT changes. */
enum edit_cut {
	EDIT_CUT_PARENT, /* a traceparent */
	EDIT_CUT_STATE,  /* a tracestate */
	EDIT_CUT_FRONT,  /* what stands before the new value of a traceparent: it becomes blanks */
};

/* Characters of the value of a traceparent (version 00). */
#define TRACEPARENT_VALUE_LEN 55

/*
 * The ids of the header that an edit carries; its text is made anew for every transmission. What
 * `len` is above the line of a traceparent is the line of a tracestate, which is kept elsewhere.
 */
struct edit {
	__u32 at; /* app sequence number of the byte it stands before, or of the first it changes */
	__u16 len; /* wire bytes it adds; even, so that the parity of what follows is kept */
	__u8 trace_flags;
	__u8 kind; /* enum edit_kind */
	union {
		struct { /* EDIT_INSERT, EDIT_PARENT */
			__u8 trace_id[16] __attribute__((aligned(8)));
			__u8 span_id[8];
		};
		struct {              /* EDIT_CUT */
			__u16 extent; /* bytes it changes */
			__u8 name;  /* how many of them, the first ones, are of the field's name */
			__u8 state; /* enum edit_cut */
		};
		struct {              /* EDIT_FIELDS */
			__u32 front;  /* bytes before `at`, from the begin of the first frame */
			__u32 reach;  /* bytes from `at` to behind the last one that has a field */
			__u32 first;  /* index of the place of its first field */
			__u32 places; /* how many fields it has, FIELD_LEN bytes each */
		};
	};
};
_Static_assert(sizeof(struct edit) == 32, "edit is shared");

/* Indices count up for ever (modulo 2^32); the slot of an edit is its index & EDITS_MASK. */
struct edits {
	__u64 retired; /* low half: sum of the retired edits; high half: index of the oldest edit */
	__u32 end;     /* index after the youngest edit */
	__u32 changed; /* index after the youngest one that changes bytes in place */
	struct edit ring[EDITS_MAX];
};

/* What the edits were at one moment. */
struct edits_view {
	__u32 base;
	__u32 first;
	__u32 count;
};

/* a < b in sequence space (RFC 9293, 3.4). */
static inline int seq_before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

/* Bytes of a header of HTTP/2, name and value. */
#define FIELD_LEN 66

/* Does an edit add headers? */
static inline int edit_inserts(const struct edit *e)
{
	return e->kind == EDIT_INSERT || e->kind == EDIT_FIELDS;
}

/* The number of the first byte that an edit is about. */
static inline __u32 edit_begin(const struct edit *e)
{
	return e->kind == EDIT_FIELDS ? e->at - e->front : e->at;
}

/* The number behind the last byte that an edit is about. */
static inline __u32 edit_end(const struct edit *e)
{
	if (e->kind == EDIT_INSERT)
		return e->at + 1;
	if (e->kind == EDIT_FIELDS)
		return e->at + e->reach;
	if (e->kind == EDIT_PARENT)
		return e->at + TRACEPARENT_VALUE_LEN;
	return e->kind == EDIT_CUT ? e->at + e->extent : e->at;
}

static inline struct edits_view edits_view(const struct edits *e)
{
	__u64 retired = *(const volatile __u64 *)&e->retired;
	__u32 end = *(const volatile __u32 *)&e->end, first = retired >> 32;

	/* Where loads may come out of order, `end` can be the older of the two. */
	return (struct edits_view){.base = (__u32)retired,
				   .first = first,
				   .count = seq_before(end, first) ? 0 : end - first};
}

/* The i-th oldest edit of a view; i < count. */
static inline const struct edit *edits_at(const struct edits *e, struct edits_view v, __u32 i)
{
	return &e->ring[(v.first + i) & EDITS_MASK];
}

/* The i-th oldest edit; i < edits_count(). */
static inline const struct edit *edits_get(const struct edits *e, __u32 i)
{
	return edits_at(e, edits_view(e), i);
}

/* Sum of the retired edits. */
static inline __u32 edits_base(const struct edits *e)
{
	return edits_view(e).base;
}

/* How many edits are in flight. */
static inline __u32 edits_count(const struct edits *e)
{
	return edits_view(e).count;
}

/* Wire number of the first wire byte of app byte `a`: its edit, if it has one. */
static inline __u32 edits_to_wire(const struct edits *e, __u32 a)
{
	struct edits_view v = edits_view(e);
	__u32 wire = a + v.base;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= v.count || !seq_before(edits_at(e, v, i)->at, a))
			break;
		wire += edits_at(e, v, i)->len;
	}
	return wire;
}

static inline __u32 edits_view_to_app(const struct edits *e, struct edits_view v, __u32 w)
{
	__u32 app = w - v.base;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= v.count)
			break;
		__u32 at = edits_at(e, v, i)->at, len = edits_at(e, v, i)->len;

		if (!seq_before(at, app))
			break;
		if (app - at <= len)
			return at;
		app -= len;
	}
	return app;
}

/*
 * Largest a with to_wire(a) <= w: acknowledgements, right edges, quoted numbers.
 *
 * Asked on the inbound side, where another CPU may retire an edit meanwhile and the writer fill
 * its slot again. That shows in `retired`; the second view is good enough: to spoil it too,
 * sixteen more requests would have to pass within some nanoseconds.
 */
static inline __u32 edits_to_app(const struct edits *e, __u32 w)
{
	struct edits_view before = edits_view(e), after;
	__u32 app = edits_view_to_app(e, before, w);

	after = edits_view(e);
	if (after.first == before.first)
		return app;
	return edits_view_to_app(e, after, w);
}

/* One number among edits that have retired. */
struct edits_past {
	__u32 app;  /* largest a with to_wire(a) <= w */
	__u32 wire; /* to_wire(app) */
};

static inline struct edits_past edits_view_past(const struct edits *e, struct edits_view v, __u32 w)
{
	__u32 base = v.base;

	/* A slot less than are free: the writer may be filling that one. */
	for (__u32 i = 1; i < EDITS_MAX; i++) {
		if (i >= EDITS_MAX - v.count)
			break;
		const struct edit *edit = &e->ring[(v.first - i) & EDITS_MASK];
		__u32 at = edit->at, len = edit->len;

		if (!len)
			continue;
		if (seq_before(at, w - base))
			break;
		base -= len;
		if (seq_before(at, w - base))
			return (struct edits_past){.app = at, .wire = at + base};
	}
	return (struct edits_past){.app = w - base, .wire = w};
}

/*
 * The same of a number before the place of the youngest edit that has retired: with the edits that
 * stood before it then. What has retired stays in the ring until its slot is used again; what came
 * before that (`w` is older than the last few requests then) counts as if it had been there.
 */
static inline struct edits_past edits_past(const struct edits *e, __u32 w)
{
	struct edits_view before = edits_view(e), after;
	struct edits_past past = edits_view_past(e, before, w);

	after = edits_view(e);
	if (after.first == before.first && after.count == before.count)
		return past;
	return edits_view_past(e, after, w);
}

/* Is a number among the places of an edit, before the end of the youngest? */
static inline int edits_among(const struct edits *e, __u32 app)
{
	struct edits_view v = edits_view(e);

	return v.count && seq_before(app, edit_end(edits_at(e, v, v.count - 1)));
}

/* Behind the last place of an edit, if `app` is among its places, but not the first. */
static inline __u32 edits_behind(const struct edits *e, __u32 app)
{
	struct edits_view v = edits_view(e);

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= v.count || !seq_before(edits_at(e, v, i)->at, app))
			break;
		if (edits_at(e, v, i)->kind == EDIT_FIELDS &&
		    seq_before(app, edit_end(edits_at(e, v, i))))
			return edit_end(edits_at(e, v, i));
	}
	return app;
}

/*
 * Smallest a with to_wire(a) >= w: left edges. Where an edit has several places, and w is among
 * them, it may be a larger one.
 */
static inline __u32 edits_to_app_up(const struct edits *e, __u32 w)
{
	__u32 app = edits_to_app(e, w);

	return edits_behind(e, edits_to_wire(e, app) == w ? app : app + 1);
}

/*
 * Add an edit at the end. Returns 0, -1 when the ring is full or `at` is not behind the bytes of
 * the youngest edit (the edits are unchanged then). Only for the one writer.
 */
static inline int edits_add(struct edits *e, const struct edit *edit)
{
	struct edits_view v = edits_view(e);
	__u32 end = v.first + v.count;

	if (v.count >= EDITS_MAX)
		return -1;
	if (v.count && seq_before(edit->at, edit_end(edits_at(e, v, v.count - 1))))
		return -1;
	e->ring[end & EDITS_MASK] = *edit;
	if (!edit_inserts(edit))
		e->changed = end + 1;
	/* A full barrier: the edit is there before anyone can count it. */
	__sync_lock_test_and_set(&e->end, end + 1);
	return 0;
}

/*
 * Take back the `n` youngest edits, none of which may have been sent. Only for the one writer. What
 * is left of them in the ring is not taken for edits that have retired.
 */
static inline void edits_take_back(struct edits *e, __u32 n)
{
	__u32 count = edits_count(e);

	n = n < count ? n : count;
	for (__u32 i = 1; i <= EDITS_MAX; i++) {
		if (i > n)
			break;
		e->ring[(e->end - i) & EDITS_MASK].len = 0;
	}
	__sync_lock_test_and_set(&e->end, e->end - n);
}

/*
 * The headers among the `n` youngest edits are not sent, but others of these are. Only for the one
 * writer.
 */
static inline void edits_void(struct edits *e, __u32 n)
{
	struct edits_view v = edits_view(e);

	for (__u32 i = 1; i <= EDITS_MAX; i++) {
		if (i > n || i > v.count)
			break;
		struct edit *edit = &e->ring[(v.first + v.count - i) & EDITS_MASK];

		if (!edit_inserts(edit))
			continue;
		edit->len = 0;
		edit->kind = EDIT_VOID;
	}
}

/*
 * The peer has acknowledged everything before app byte `ack`. Returns how many edits retired.
 * When two acknowledgements meet, one of them retires nothing; the next one will.
 */
static inline __u32 edits_retire(struct edits *e, __u32 ack)
{
	struct edits_view v = edits_view(e);
	__u64 old = (__u64)v.first << 32 | v.base, new;
	__u32 base = v.base, n = 0;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= v.count || seq_before(ack, edit_end(edits_at(e, v, i))))
			break;
		base += edits_at(e, v, i)->len;
		n = i + 1;
	}
	if (!n)
		return 0;
	new = (__u64)(v.first + n) << 32 | base;
	return __sync_val_compare_and_swap(&e->retired, old, new) == old ? n : 0;
}

/*
 * Bytes of edits that the peer has yet to acknowledge beyond wire number `ack`: by so much
 * the window it advertised is smaller for the app.
 */
static inline __u32 edits_unacked(const struct edits *e, __u32 ack)
{
	struct edits_view v = edits_view(e);
	__u32 app = ack - v.base, sum = 0;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= v.count)
			break;
		__u32 at = edits_at(e, v, i)->at, len = edits_at(e, v, i)->len;
		__u32 acked = seq_before(at, app) ? app - at : 0;

		if (acked > len)
			acked = len;
		sum += len - acked;
		app -= acked;
	}
	return sum;
}

/* Bytes of the edits in flight, in a view of them. */
static inline __u32 edits_bytes_in(const struct edits *e, struct edits_view v)
{
	__u32 sum = 0;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= v.count)
			break;
		sum += edits_at(e, v, i)->len;
	}
	return sum;
}

/* Bytes of all edits in flight. */
static inline __u32 edits_bytes(const struct edits *e)
{
	return edits_bytes_in(e, edits_view(e));
}

/* By how much the numbers at the end of the stream differ, whether the edits are retired or not. */
static inline __u32 edits_total(const struct edits *e)
{
	struct edits_view v = edits_view(e);

	return v.base + edits_bytes_in(e, v);
}

/* Is any edit in flight that changes bytes in place? Only for the one writer. */
static inline int edits_changing(const struct edits *e)
{
	return seq_before(edits_view(e).first, e->changed);
}

/* Is any edit in flight about a byte from `from` on, and before `to`? */
static inline int edits_meet(const struct edits *e, __u32 from, __u32 to)
{
	struct edits_view v = edits_view(e);

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= v.count)
			break;
		const struct edit *edit = edits_at(e, v, i);

		if (seq_before(from, edit_end(edit)) && seq_before(edit_begin(edit), to) &&
		    edit->kind != EDIT_VOID)
			return 1;
	}
	return 0;
}

/* Are the numbers of the flow's wire stream others than those of its app stream, or may be so? */
static inline int edits_any(const struct edits *e)
{
	struct edits_view v = edits_view(e);

	return v.base || v.count;
}

#endif
