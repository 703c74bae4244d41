/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Before stage 8: bytes of the packet that are changed in place, old changes and new ones alike.
 * Its length and its numbers stay; whatever else is done to it finds the changed bytes.
 */
#ifndef CTXPROP_TC_CHANGE_BPF_H
#define CTXPROP_TC_CHANGE_BPF_H

#include "50-plan.bpf.h"

/* Bytes that are changed in one step. */
#define CHANGE_PIECE (CHANGE_RENDERED - CHANGE_TEXT)
/* Steps: pieces of a packet, and edits. */
#define CHANGE_STEPS (65536 / CHANGE_PIECE + 2 * EDITS_MAX)

/* Places in scratch.wire: what the bytes become, what they were, and what they are then. */
#define CHANGE_NEW    0
#define CHANGE_BEFORE 1024
#define CHANGE_AFTER  2048
_Static_assert(CHANGE_RENDERED + 8 <= CHANGE_BEFORE, "places do not overlap");

/* A walk over the edits that change bytes of one packet. */
struct change_walk {
	struct __sk_buff *skb;
	const struct packet *p;
	struct flow *flow;
	struct scratch *s;
	struct edits_view view;
	__u32 index;   /* of the edit at hand, among the view */
	__u32 next;    /* app: bytes before it are done */
	__u32 edits;   /* met so far */
	__u32 summing; /* the checksum covers the bytes */
	long err;
	__u64 sum; /* of what came, less what went; unfolded */
};

/* The part of an edit that stands in the packet. Returns whether there is any. */
static __always_inline int change_part(const struct change_walk *w, const struct edit *e,
				       __u32 *ret_from, __u32 *ret_to)
{
	__u32 end = w->p->seq + w->p->len;

	*ret_from = seq_before(e->at, w->next) ? w->next : e->at;
	*ret_to = seq_before(end, edit_end(e)) ? end : edit_end(e);
	return !edit_inserts(e) && seq_before(*ret_from, *ret_to);
}

/* `n` bytes of the packet, and zeros behind them, at a place in scratch.wire. Returns 0 or -1. */
static __always_inline long change_load(struct change_walk *w, __u32 off, __u32 place, __u32 n)
{
	if (!size_within(&n, CHANGE_PIECE))
		return -1;
	*(volatile __u32 *)(w->s->wire + place + n) = 0;
	return bpf_skb_load_bytes(w->skb, off, w->s->wire + place, n);
}

/* The difference that a piece makes to the sum of the payload; `n` bytes were loaded each time. */
static __always_inline void change_sum(struct change_walk *w, __u32 offset, __u32 n)
{
	__u32 words = (n + 3) & ~3u;
	__s64 diff;

	if (!size_within(&words, CHANGE_PIECE))
		return;
	diff = bpf_csum_diff((__be32 *)(w->s->wire + CHANGE_BEFORE), words,
			     (__be32 *)(w->s->wire + CHANGE_AFTER), words, 0);
	if (diff < 0)
		w->err = diff;
	w->sum += plan_sum_at((__u32)diff, offset);
}

/* Change `n` bytes at payload offset `offset`: those of an edit from its byte `skip` on. */
static __always_inline void change_write(struct change_walk *w, const struct edit *e, __u32 offset,
					 __u32 skip, __u32 n)
{
	__u32 off = w->p->payload + offset, from = skip < CHANGE_TEXT ? skip : CHANGE_TEXT;

	change_render(e, &w->s->line, (__u64 *)(w->s->wire + CHANGE_NEW));
	if (w->summing)
		w->err = change_load(w, off, CHANGE_BEFORE, n);
	w->err = w->err ?: write_bytes(w->skb, off, w->s, CHANGE_NEW + from, n);
	if (w->err || !w->summing)
		return;
	w->err = change_load(w, off, CHANGE_AFTER, n);
	change_sum(w, offset, n);
}

/* One piece, or on to the next edit; as a callback of bpf_loop(). */
static long change_step(__u32 i, struct change_walk *w)
{
	const struct edit *e = edits_at(&w->flow->edits, w->view, w->index);
	__u32 from, to, n;

	(void)i;
	if (w->index >= w->view.count || w->err)
		return 1;
	if (!change_part(w, e, &from, &to)) {
		w->index++;
		return 0;
	}
	n = to - from < CHANGE_PIECE ? to - from : CHANGE_PIECE;
	change_write(w, e, from - w->p->seq, from - e->at, n);
	w->next = from + n;
	return 0;
}

/* Look only: how far into the packet do changes reach, and how many are there? */
static long change_measure_step(__u32 i, struct change_walk *w)
{
	const struct edit *e = edits_at(&w->flow->edits, w->view, i);
	__u32 from, to;

	if (i >= w->view.count)
		return 1;
	if (!change_part(w, e, &from, &to))
		return 0;
	w->edits++;
	w->next = to;
	return 0;
}

/* Nothing was written. What is new was never decided then. Returns whether the packet may pass. */
static __always_inline int change_take_back(struct change_walk *w)
{
	struct decision *d = &w->s->decision;
	__u32 n = d->fresh + d->changed;

	if (w->edits != d->changed)
		return 0;
	carry_take_back(w->flow, n);
	edits_take_back(&w->flow->edits, n);
	count_many(REASON_NO_ROOM, d->fresh + d->restarted + d->stripped);
	d->fresh = d->changed = 0;
	return 1;
}

static __always_inline void change_count(const struct decision *d)
{
	count(REASON_CHANGED);
	if (d->restarted)
		count_many(REASON_RESTARTED, d->restarted);
	if (d->stripped)
		count_many(REASON_STRIPPED, d->stripped);
}

/* Returns 0, or 1 when the packet has to be dropped. */
VERIFIED_ALONE int change_packet(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct change_walk w = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};

	if (!w.s || !p || !f)
		return 0;
	w.view = edits_view(&f->edits);
	w.next = p->seq;
	bpf_loop(EDITS_MAX, change_measure_step, &w, 0);
	if (!w.edits)
		return 0;
	/* All that can fail for want of memory comes first. */
	if (write_begin(skb) || bpf_skb_pull_data(skb, p->payload + (w.next - p->seq))) {
		if (change_take_back(&w))
			return 0;
		count(REASON_DROPPED);
		return 1;
	}
	w.next = p->seq;
	w.summing = packet_csum(skb) != PACKET_CSUM_PARTIAL;
	bpf_loop(CHANGE_STEPS, change_step, &w, 0);
	if (!w.err && w.summing)
		w.err = write_csum_diff(skb, p, csum_fold(w.sum));
	if (w.err) {
		count(REASON_DROPPED);
		return 1;
	}
	packet_mark(skb, SIDE_OUT);
	change_count(&w.s->decision);
	return 0;
}

#endif
