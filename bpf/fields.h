/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The fields that were added to header blocks of HTTP/2: where they stand, and whose frames they
 * have made longer.
 *
 * All blocks that end in one packet are one edit of its flow (EDIT_FIELDS of edits.h), so that a
 * flow can have many requests in flight. Each of them has a place: a field stands behind the last
 * byte of its block, and is sent with that byte; the length in the header of the block's frame,
 * bytes before, counts it, too. Both are made anew for every transmission, from the place alone.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_FIELDS_H
#define CTXPROP_FIELDS_H

#include "edits.h"

/* Places of one connection whose edits are in flight; a power of two. */
#define FIELDS_MAX  128
#define FIELDS_MASK (FIELDS_MAX - 1)

struct field_place {
	__u16 last;   /* the last byte of the block, counted from `at` of the edit */
	__u16 before; /* bytes from the begin of its frame to behind that byte */
	__u8 pad;     /* bytes of padding behind the block, in the same frame */
	__u8 flags;   /* of the trace */
	__u16 reserved;
	__u8 trace_id[16] __attribute__((aligned(8)));
};

/* Indices count up for ever (modulo 2^32); the slot of a place is its index & FIELDS_MASK. */
struct field_places {
	__u64 seed; /* what the span ids of its fields are made of */
	__u32 end;  /* index after the youngest */
	__u32 reserved;
	struct field_place ring[FIELDS_MAX];
};

/* Bytes of the header of a frame (RFC 9113, 4.1), which begins with its length. */
#define FIELDS_FRAME_HEADER 9

/* Some bytes of a flow, and a walk over the edits and places that are about them. */
struct fields_walk {
	__u32 from, to; /* app: the bytes [from, to) */
	__u32 wire;     /* of the byte `from`, when the walk is over */
	__u32 edit;     /* of the view: the next one */
	__u32 place;    /* and of its places */
};

/* A field, or the length of its frame, or both, among the bytes. All numbers are of the app. */
struct field_met {
	__u32 frame;  /* the first byte of its frame */
	__u32 last;   /* the last byte of its block */
	__u32 index;  /* of its place */
	__u32 length; /* that the frame has without it */
	__u8 added;   /* the field stands among the bytes */
};

enum fields_step {
	FIELDS_OVER, /* nothing more is about these bytes */
	FIELDS_NONE, /* the walk has gone on */
	FIELDS_MET,
};

static inline void fields_begin(struct fields_walk *w, struct edits_view v, __u32 from, __u32 to)
{
	*w = (struct fields_walk){.from = from, .to = to, .wire = from + v.base};
}

/* On to the next edit. */
static inline void fields_next_edit(struct fields_walk *w)
{
	w->edit++;
	w->place = 0;
}

/* A step of the walk. */
static inline __attribute__((always_inline)) enum fields_step
fields_step(const struct edits *edits, struct edits_view v, const struct field_places *places,
	    struct fields_walk *w, struct field_met *met)
{
	const struct edit *e = edits_at(edits, v, w->edit);
	const struct field_place *place;

	if (w->edit >= v.count || !seq_before(edit_begin(e), w->to))
		return FIELDS_OVER;
	if (!w->place && !seq_before(w->from, edit_end(e))) {
		w->wire += e->len;
		fields_next_edit(w);
		return FIELDS_NONE;
	}
	if (w->place >= e->places) {
		fields_next_edit(w);
		return FIELDS_NONE;
	}
	met->index = e->first + w->place++;
	place = &places->ring[met->index & FIELDS_MASK];
	met->last = e->at + place->last;
	met->frame = met->last + 1 - place->before;
	met->length = place->before - FIELDS_FRAME_HEADER + place->pad;
	if (seq_before(met->last, w->from)) {
		w->wire += FIELD_LEN;
		return FIELDS_NONE;
	}
	if (!seq_before(met->frame, w->to))
		return FIELDS_OVER;
	met->added = seq_before(met->last, w->to);
	return FIELDS_MET;
}

/*
 * How many places of an edit lie before `number`. `added`: 0 if that is a number of the app;
 * FIELD_LEN if it is one of the wire, less all that was added before the edit.
 */
static inline __attribute__((always_inline)) __u32
fields_before(const struct edit *e, const struct field_places *places, __u32 number, __u32 added)
{
	__u32 low = 0, high = e->places;

	for (__u32 size = FIELDS_MAX; size; size >>= 1) {
		__u32 middle = (low + high) / 2;
		const struct field_place *p = &places->ring[(e->first + middle) & FIELDS_MASK];

		if (low >= high)
			break;
		if (seq_before(e->at + p->last + middle * added, number))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Among the places of an edit; `app`: the wire number less all that was added before the edit. */
static inline __attribute__((always_inline)) __u32
fields_among(const struct edit *e, const struct field_places *places, __u32 app)
{
	__u32 n = fields_before(e, places, app, FIELD_LEN), last;

	if (!n)
		return app;
	last = e->at + places->ring[(e->first + n - 1) & FIELDS_MASK].last;
	app -= (n - 1) * FIELD_LEN;
	return app - last <= FIELD_LEN ? last : app - FIELD_LEN;
}

/* The same as edits_to_app(), to the byte also among the places of one edit. */
static inline __attribute__((always_inline)) __u32
fields_view_to_app(const struct edits *edits, struct edits_view v,
		   const struct field_places *places, __u32 w)
{
	__u32 app = w - v.base;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		const struct edit *e = edits_at(edits, v, i);

		if (i >= v.count || !seq_before(e->at, app))
			break;
		if (app - e->at < e->reach + e->len)
			return fields_among(e, places, app);
		app -= e->len;
	}
	return app;
}

static inline __attribute__((always_inline)) __u32
fields_to_app(const struct edits *edits, const struct field_places *places, __u32 w)
{
	struct edits_view before = edits_view(edits), after;
	__u32 app = fields_view_to_app(edits, before, places, w);

	after = edits_view(edits); /* as edits_to_app() */
	if (after.first == before.first)
		return app;
	return fields_view_to_app(edits, after, places, w);
}

/* The same as edits_to_wire(), to the byte also among the places of one edit. */
static inline __attribute__((always_inline)) __u32
fields_to_wire(const struct edits *edits, const struct field_places *places, __u32 app)
{
	struct edits_view v = edits_view(edits);
	__u32 wire = app + v.base;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		const struct edit *e = edits_at(edits, v, i);

		if (i >= v.count || !seq_before(e->at, app))
			break;
		if (!seq_before(app, edit_end(e))) {
			wire += e->len;
			continue;
		}
		wire += fields_before(e, places, app, 0) * FIELD_LEN;
		break;
	}
	return wire;
}

/* A bijection that spreads what differs over all bits (the finalizer of SplitMix64, Steele 2014).
 */
static inline __u64 fields_spread(__u64 x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* The span id of a field, which is the same for every transmission; never 0. */
static inline __u64 fields_span_id(const struct field_places *places, __u32 index)
{
	return fields_spread(places->seed + (__u64)(index + 1) * 0x9e3779b97f4a7c15ull) | 1;
}

/* The ids of a field. */
static inline void fields_ids(const struct field_places *places, __u32 index, struct edit *ret)
{
	const struct field_place *place = &places->ring[index & FIELDS_MASK];

	__builtin_memcpy(ret->trace_id, place->trace_id, sizeof(ret->trace_id));
	*(__u64 *)ret->span_id = fields_span_id(places, index);
	ret->trace_flags = place->flags;
}

#endif
