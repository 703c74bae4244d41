/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The edit model: which bytes were added to a flow, and how its numbers map.
 *
 * The app stream is what the sender numbers, the wire stream what the receiver gets. An edit
 * stands immediately before app byte `at`; that byte and the edit are one wide byte of
 * len + 1 wire bytes. Edits are sorted by `at`, immutable once sent, and retire into `base`
 * when the peer has acknowledged byte `at`. All numbers are modulo 2^32.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively. The caller serialises.
 */
#ifndef CTXPROP_EDITS_H
#define CTXPROP_EDITS_H

#include <linux/types.h>

#define EDITS_MAX  16 /* in flight on one flow; a power of two */
#define EDITS_MASK (EDITS_MAX - 1)

/* The ids of the header that an edit carries; its text is made anew for every transmission. */
struct edit {
	__u32 at;  /* app sequence number of the byte it stands before */
	__u16 len; /* wire bytes it adds; even, so that the parity of what follows is kept */
	__u8 trace_flags;
	__u8 reserved;
	__u8 trace_id[16];
	__u8 span_id[8];
};
_Static_assert(sizeof(struct edit) == 32, "edit is shared");

struct edits {
	__u32 base;  /* sum of the retired edits */
	__u16 first; /* ring index of the oldest edit */
	__u16 count;
	struct edit ring[EDITS_MAX];
};

/* a < b in sequence space (RFC 9293, 3.4). */
static inline int seq_before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

/* The i-th oldest edit; i < count. */
static inline const struct edit *edits_get(const struct edits *e, __u32 i)
{
	return &e->ring[(e->first + i) & EDITS_MASK];
}

/* Wire number of the first wire byte of app byte `a`: its edit, if it has one. */
static inline __u32 edits_to_wire(const struct edits *e, __u32 a)
{
	__u32 wire = a + e->base;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= e->count || !seq_before(edits_get(e, i)->at, a))
			break;
		wire += edits_get(e, i)->len;
	}
	return wire;
}

/* Largest a with to_wire(a) <= w: acknowledgements, right edges, quoted numbers. */
static inline __u32 edits_to_app(const struct edits *e, __u32 w)
{
	__u32 app = w - e->base;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= e->count)
			break;
		__u32 at = edits_get(e, i)->at, len = edits_get(e, i)->len;

		if (!seq_before(at, app))
			break;
		if (app - at <= len)
			return at;
		app -= len;
	}
	return app;
}

/* Smallest a with to_wire(a) >= w: left edges. */
static inline __u32 edits_to_app_up(const struct edits *e, __u32 w)
{
	__u32 app = w - e->base;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= e->count)
			break;
		__u32 at = edits_get(e, i)->at, len = edits_get(e, i)->len;

		if (!seq_before(at, app))
			break;
		if (app - at <= len)
			return at + 1;
		app -= len;
	}
	return app;
}

/*
 * Add an edit at the end. Returns 0, -1 when the ring is full or `at` is not after the
 * youngest edit (the edits are unchanged then).
 */
static inline int edits_add(struct edits *e, const struct edit *edit)
{
	if (e->count >= EDITS_MAX)
		return -1;
	if (e->count && !seq_before(edits_get(e, e->count - 1u)->at, edit->at))
		return -1;
	e->ring[(e->first + e->count) & EDITS_MASK] = *edit;
	e->count++;
	return 0;
}

/* Take back the `n` youngest edits, none of which may have been sent. */
static inline void edits_take_back(struct edits *e, __u32 n)
{
	e->count = n < e->count ? e->count - n : 0;
}

/* The peer has acknowledged everything before app byte `ack`. Returns how many edits retired. */
static inline __u32 edits_retire(struct edits *e, __u32 ack)
{
	__u32 retired = 0;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (!e->count || !seq_before(edits_get(e, 0)->at, ack))
			break;
		e->base += edits_get(e, 0)->len;
		e->first = (e->first + 1) & EDITS_MASK;
		e->count--;
		retired++;
	}
	return retired;
}

/*
 * Bytes of edits that the peer has yet to acknowledge beyond wire number `ack`: by so much
 * the window it advertised is smaller for the app.
 */
static inline __u32 edits_unacked(const struct edits *e, __u32 ack)
{
	__u32 app = ack - e->base, sum = 0, partial = 0;

	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= e->count)
			break;
		__u32 at = edits_get(e, i)->at, len = edits_get(e, i)->len;

		if (!seq_before(at, app)) {
			sum += len;
		} else if (app - at <= len) {
			partial = len - (app - at);
			sum += partial;
			app = at;
		} else {
			app -= len;
		}
	}
	return sum;
}

/* Does the flow's wire stream differ from its app stream at all? */
static inline int edits_any(const struct edits *e)
{
	return e->base || e->count;
}

#endif
