/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 5, plan: which edits does this packet carry, old ones and new ones alike, and what will
 * its bytes be on the wire?
 *
 * A packet carries every edit that stands before one of its bytes, on every transmission and
 * however TCP cuts the stream this time.
 */
#ifndef CTXPROP_TC_PLAN_BPF_H
#define CTXPROP_TC_PLAN_BPF_H

#include "40-decide.bpf.h"
#include "60-write.bpf.h"

/* Collect the edits of app bytes [seq, seq + len) and the wire number of the first byte. */
static __always_inline void plan_make(struct flow *f, __u32 seq, __u32 len, struct plan *plan)
{
	/* Kept in memory: in a register the verifier would follow each number of edits as a path of
	 * its own. */
	volatile __u32 *n = &plan->count, *added = &plan->added;

	*n = *added = 0;
	struct edits_view v = edits_view(&f->edits);
	__u32 wire = seq + v.base;

	*n = *added = 0;
	plan->sum = 0;
	for (__u32 i = 0; i < EDITS_MAX; i++) {
		if (i >= v.count)
			break;
		const struct edit *e = edits_at(&f->edits, v, i);

		if (seq_before(e->at, seq))
			wire += e->len;
		if (!e->len || seq_before(e->at, seq) || !seq_before(e->at, seq + len))
			continue;
		plan->edit[*n & EDITS_MASK] = *e;
		*added += e->len;
		*n += 1;
	}
	plan->wire_seq = wire;
}

/* A ones' complement sum whose bytes lie at an odd offset has its bytes swapped (RFC 1071, 2B). */
static __always_inline __u32 plan_sum_at(__u64 sum, __u32 offset)
{
	__u32 folded = csum_fold(sum);

	return offset & 1 ? bpf_ntohs(folded) : folded;
}

/* Where the bytes of scratch.wire stand and how they were made. */
struct render {
	struct __sk_buff *skb;
	struct scratch *s;
	__u32 payload; /* offset of the payload in the skb */
	__u32 from;    /* payload offset of the next byte to be copied */
	__u32 pos;     /* bytes rendered so far */
};

/* Copy payload bytes up to `to`. Returns 0 or -1. */
static __always_inline int render_copy(struct render *r, __u32 to)
{
	__u32 n = to - r->from, pos = r->pos;

	if (n == 0)
		return 0;
	if (!index_within(&pos, WIRE_SIZE) || !size_within(&n, WIRE_MAX))
		return -1;
	if (bpf_skb_load_bytes(r->skb, r->payload + r->from, r->s->wire + pos, n))
		return -1;
	r->from = to;
	r->pos = pos + n;
	return 0;
}

/*
 * Copy the tracestate that goes with edit `index` of the plan into scratch.wire at `pos`, and its
 * sum into the plan. Returns 0 or -1.
 */
VERIFIED_ALONE int render_carried(__u32 index, __u32 pos)
{
	struct scratch *s = scratch_get();
	const struct tracestate *state;
	const struct edit *e;
	const __u64 *word;
	__u32 start;
	__u64 sum = 0;

	if (!s || !index_within(&pos, WIRE_SIZE))
		return -1;
	e = &s->plan.edit[index & EDITS_MASK];
	state = carry_lookup(e);
	if (!state || state->len != e->len - TRACEPARENT_LINE_LEN)
		return -1;
	start = state->start;
	if (start > TRACESTATE_VALUE_AT - TRACESTATE_NAME_LEN)
		return -1;
	word = (const __u64 *)(state->byte + start);
	for (__u32 i = 0; i < TRACESTATE_WORDS; i++) {
		if (i * 8 >= state->len)
			break;
		*(volatile __u64 *)(s->wire + pos + i * 8) = word[i];
		sum += (word[i] >> 32) + (__u32)word[i];
	}
	s->plan.carried = sum;
	return 0;
}

/* The ones' complement sum of a line, unfolded. */
static __always_inline __u64 render_sum(const struct traceparent_line *line)
{
	__u64 sum = 0;

	for (int i = 0; i < 9; i++)
		sum += (line->word[i] >> 32) + (__u32)line->word[i];
	return sum;
}

/* Write the lines of edit `index` of the plan. Returns 0 or -1. */
static __always_inline int render_edit(struct render *r, const struct edit *e, __u32 index)
{
	struct traceparent_line *line = &r->s->line;
	__u32 pos = r->pos;
	__u64 sum;

	if (!index_within(&pos, WIRE_SIZE))
		return -1;
	traceparent_write(line, e);
	for (int i = 0; i < 9; i++)
		*(volatile __u64 *)(r->s->wire + pos + i * 8) = line->word[i];
	sum = render_sum(line);
	if (e->len > TRACEPARENT_LINE_LEN) {
		/* The line before is of even length: the parity is the same. */
		if (render_carried(index, pos + TRACEPARENT_LINE_LEN))
			return -1;
		sum += r->s->plan.carried;
	}
	r->s->plan.sum += plan_sum_at(sum, r->from);
	r->pos += e->len;
	return 0;
}

/*
 * Render payload bytes [from, to) and the edits among them into scratch.wire; `to` may be the
 * place of the last edit, which is rendered then. Returns the number of bytes, or -1.
 */
VERIFIED_ALONE int plan_render(struct __sk_buff *skb, const struct packet *p, __u32 from, __u32 to)
{
	struct render r = {.skb = skb, .s = scratch_get(), .from = from};

	if (!r.s || !p)
		return -1;
	r.payload = p->payload;
	for (__u32 i = 0; i < EDITS_MAX; i++) {
		const struct edit *e = &r.s->plan.edit[i];

		if (i >= r.s->plan.count)
			break;
		if (render_copy(&r, e->at - p->seq) || render_edit(&r, e, i))
			return -1;
	}
	return render_copy(&r, to) ? -1 : (int)r.pos;
}

#endif
