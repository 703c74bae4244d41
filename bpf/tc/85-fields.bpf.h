/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stages 5 and 8 of HTTP/2: which fields (fields.h) does a packet carry, old ones and new ones
 * alike, and the packet with them: grown, split, or only changed in place, where of a block that
 * comes again the packet has the length alone.
 */
#ifndef CTXPROP_TC_FIELDS_BPF_H
#define CTXPROP_TC_FIELDS_BPF_H

#include "31-http2.bpf.h"
#include "80-edit.bpf.h"

/* Bytes of the length in a frame's header (RFC 9113, 4.1). */
#define LENGTH_LEN 3
/* Steps of a walk: places, edits, and the end. */
#define FIELDS_STEPS (FIELDS_MAX + 2 * EDITS_MAX + 1)

/*
 * A walk over what a packet carries. What changes with each step is in the scratch area: of memory
 * the verifier knows nothing, and so has no more to look at than one step.
 */
struct fields_run {
	struct __sk_buff *skb;
	struct scratch *s;
	const struct packet *p;
	const struct flow *flow;
	const struct http2_flow *h;
	struct edits_view view;
};

/* The walk over the first `len` bytes of the packet, whose bytes are rendered from `from` on. */
static __always_inline void fields_start(struct fields_run *r, __u32 from, __u32 len)
{
	struct fields_at *at = &r->s->fields_at;

	r->view = edits_view(&r->flow->edits);
	fields_begin(&at->walk, r->view, r->p->seq, r->p->seq + len);
	at->from = from;
	at->len = len;
	at->pos = at->failed = 0;
}

/* One step. FIELDS_MET: scratch.fields_at.met is something that changes bytes of the packet. */
static __always_inline enum fields_step fields_go(struct fields_run *r)
{
	struct fields_at *at = &r->s->fields_at;
	enum fields_step step =
	    fields_step(&r->flow->edits, r->view, &r->h->places, &at->walk, &at->met);

	/* In the middle of a block nothing changes. */
	if (step == FIELDS_MET && !at->met.added &&
	    !seq_before(r->p->seq, at->met.frame + LENGTH_LEN))
		return FIELDS_NONE;
	return step;
}

/* The payload offset of the field, or else behind the length, as far as that is in the packet. */
static __always_inline __u32 fields_until(const struct fields_run *r)
{
	const struct fields_at *at = &r->s->fields_at;
	__u32 end = at->met.frame + LENGTH_LEN - r->p->seq;

	if (at->met.added)
		return at->met.last + 1 - r->p->seq;
	return end < at->len ? end : at->len;
}

/* A step of the measuring, as a callback of bpf_loop(). */
static long fields_measure_step(__u32 i, struct fields_run *r)
{
	enum fields_step step = fields_go(r);
	const struct field_met *met = &r->s->fields_at.met;
	struct plan *plan = &r->s->plan;
	__u32 seq = r->p->seq;

	(void)i;
	if (step != FIELDS_MET)
		return step == FIELDS_OVER;
	if (!plan->count)
		plan->first = seq_before(met->frame, seq) ? 0 : met->frame - seq;
	plan->count++;
	plan->last = fields_until(r);
	if (met->added)
		plan->added += FIELD_LEN;
	return 0;
}

/* What the first `len` bytes of a packet carry: into the plan. */
VERIFIED_ALONE int fields_measure(const struct packet *p, const struct flow *f,
				  const struct http2_flow *h, __u32 len)
{
	struct fields_run r = {.s = scratch_get(), .p = p, .flow = f, .h = h};
	struct plan *plan;

	if (!r.s || !p || !f || !h)
		return 0;
	plan = &r.s->plan;
	plan->count = plan->first = plan->last = plan->added = 0;
	fields_start(&r, 0, len);
	bpf_loop(FIELDS_STEPS, fields_measure_step, &r, 0);
	plan->wire_seq = r.s->fields_at.walk.wire;
	return 0;
}

/* A byte of a sum at a payload offset. */
static __always_inline __u32 fields_sum_byte(__u8 byte, __u32 offset)
{
	return offset & 1 ? (__u32)byte << 8 : byte;
}

/* Copy payload bytes up to `to`. Returns 0 or -1. */
static __always_inline int fields_copy(struct fields_run *r, __u32 to)
{
	struct fields_at *at = &r->s->fields_at;
	__u32 from = at->from, pos = at->pos, n = to - from;

	if (!n)
		return 0;
	if (!index_within(&pos, WIRE_SIZE) || !size_within(&n, WIRE_MAX) ||
	    bpf_skb_load_bytes(r->skb, r->p->payload + from, r->s->wire + pos, n))
		return -1;
	at->from = to;
	at->pos = pos + n;
	return 0;
}

/*
 * The length of a frame counts its field: its bytes, as far as they are among those that were
 * copied last, from payload offset `from` to scratch.wire at `pos`.
 */
static __always_inline void fields_change_length(struct fields_run *r, __u32 from, __u32 pos)
{
	const struct fields_at *state = &r->s->fields_at;
	__u32 length = state->met.length + FIELD_LEN;

	for (__u32 i = 0; i < LENGTH_LEN; i++) {
		__u32 offset = state->met.frame + i - r->p->seq, at = pos + (offset - from);
		__u8 byte = length >> 8 * (LENGTH_LEN - 1 - i), *old;

		if ((__s32)(offset - from) < 0 || offset >= state->from ||
		    !index_within(&at, WIRE_SIZE))
			continue;
		old = r->s->wire + at;
		r->s->plan.sum +=
		    fields_sum_byte(byte, offset) + 0xffff - fields_sum_byte(*old, offset);
		*(volatile __u8 *)old = byte;
	}
}

/* Write the field of the place at hand. Returns 0 or -1. */
static __always_inline int fields_write(struct fields_run *r)
{
	struct scratch *s = r->s;
	__u32 pos = s->fields_at.pos;

	if (!index_within(&pos, WIRE_SIZE))
		return -1;
	fields_ids(&r->h->places, s->fields_at.met.index, &s->change);
	traceparent_write_field(&s->line, &s->change);
	for (int i = 0; i < 9; i++)
		*(volatile __u64 *)(s->wire + pos + i * 8) = s->line.word[i];
	s->plan.sum += plan_sum_at(render_sum(&s->line), s->fields_at.from);
	s->fields_at.pos = pos + FIELD_LEN;
	return 0;
}

/* A step of the rendering, as a callback of bpf_loop(). */
static long fields_render_step(__u32 i, struct fields_run *r)
{
	enum fields_step step = fields_go(r);
	struct fields_at *at = &r->s->fields_at;
	__u32 from = at->from, pos = at->pos;

	(void)i;
	if (step != FIELDS_MET)
		return step == FIELDS_OVER;
	if (fields_copy(r, fields_until(r))) {
		at->failed = 1;
		return 1;
	}
	fields_change_length(r, from, pos);
	if (at->met.added && fields_write(r)) {
		at->failed = 1;
		return 1;
	}
	return 0;
}

/*
 * Render payload bytes [plan.first, to) of a packet that was measured, with all that changes among
 * them, to scratch.wire. Returns the number of bytes, or -1.
 */
VERIFIED_ALONE int fields_render(struct __sk_buff *skb, const struct packet *p,
				 const struct flow *f, const struct http2_flow *h, __u32 to)
{
	struct fields_run r = {.skb = skb, .s = scratch_get(), .p = p, .flow = f, .h = h};

	if (!r.s || !p || !f || !h)
		return -1;
	r.s->plan.sum = 0;
	fields_start(&r, r.s->plan.first, to);
	bpf_loop(FIELDS_STEPS, fields_render_step, &r, 0);
	return r.s->fields_at.failed || fields_copy(&r, to) ? -1 : (int)r.s->fields_at.pos;
}

/* Nothing was written, and nothing will be: the fields that are new in this packet were never
 * added. Returns the verdict. */
static __always_inline int fields_take_back(struct outbound *o, struct http2_flow *h, __u32 reason)
{
	struct decision *d = &o->s->decision;

	/* What was sent before must be sent again, or the receiver waits for ever. */
	if (o->s->plan.count != d->fresh)
		return edit_drop();
	edits_take_back(&o->flow->edits, 1);
	h->places.end -= d->fresh;
	count_many(reason, d->fresh);
	d->fresh = 0;
	return edit_number(o->skb, o->p, o->s->plan.wire_seq);
}

/* The packet becomes longer, or keeps its length if only lengths of frames change. */
static __always_inline int fields_grow(struct outbound *o, struct http2_flow *h)
{
	struct __sk_buff *skb = o->skb;
	struct packet *p = o->p;
	struct plan *plan = &o->s->plan;
	struct header_change change = {
	    .old_len = packet_tcp_header(p) + p->len,
	    .len = packet_tcp_header(p) + p->len + plan->added,
	    .seq = plan->wire_seq,
	};
	int n = fields_render(skb, p, o->flow, h, plan->added ? p->len : plan->last);
	long err;

	if (n <= 0)
		return fields_take_back(o, h, REASON_NO_ROOM);
	/* The end is where the IP header says, not where padding ends. */
	err = plan->added ? write_size(skb, p->payload + p->len + plan->added) : write_begin(skb);
	if (err)
		return fields_take_back(o, h, REASON_NO_ROOM);
	err = write_bytes(skb, p->payload + plan->first, o->s, 0, n);
	change.sum = plan->sum;
	err = err ?: write_headers(skb, p, &change);
	return err ? edit_drop() : edit_done(o, plan->added ? REASON_GROWN : REASON_CHANGED);
}

/* The sum of what goes ahead, for which csum_wire() takes two steps. */
static __always_inline __u64 fields_lead_sum(struct scratch *s, __u32 lead)
{
	if (lead <= WIRE_MAX)
		return csum_wire(s, 0, lead);
	return csum_wire(s, 0, WIRE_MAX) + csum_wire(s, WIRE_MAX, lead);
}

/* The bytes that are too many go ahead (edit_split()). */
static __always_inline int fields_split(struct outbound *o, struct http2_flow *h)
{
	struct __sk_buff *skb = o->skb;
	struct packet *p = o->p;
	struct plan *plan = &o->s->plan;
	__u32 lead = plan->added, last = plan->last;
	struct header_change change = {.seq = plan->wire_seq + lead};
	__u64 lead_sum = 0;
	int n, sent;
	long err;

	plan->first = 0;
	n = fields_render(skb, p, o->flow, h, last);
	if (n != (int)(last + lead))
		return fields_take_back(o, h, REASON_DEEP);
	if (packet_csum(skb) != PACKET_CSUM_PARTIAL)
		lead_sum = fields_lead_sum(o->s, lead);
	sent = lead_send_all(skb, p, 0, lead);
	if (sent == -1)
		return fields_take_back(o, h, REASON_LEAD_REFUSED);
	if (sent)
		return edit_drop();
	err = write_bytes(skb, p->payload, o->s, lead, last);
	/* Bytes in: the fields. Bytes out: those that went ahead. */
	change.sum = plan->sum + (0xffff - csum_fold(lead_sum));
	err = err ?: write_headers(skb, p, &change);
	return err ? edit_drop() : edit_done(o, REASON_SPLIT);
}

/* What comes first goes ahead, and this packet is dropped (edit_piecemeal()). */
static __always_inline int fields_piecemeal(struct outbound *o, struct http2_flow *h)
{
	__u32 piece = o->p->len < LEAD_PIECE ? o->p->len : LEAD_PIECE;
	int n;

	if (o->s->decision.fresh && o->s->plan.count == o->s->decision.fresh)
		return fields_take_back(o, h, REASON_DEEP);
	fields_measure(o->p, o->flow, h, piece);
	o->s->plan.first = 0;
	n = fields_render(o->skb, o->p, o->flow, h, piece);
	if (n > 0)
		lead_send_all(o->skb, o->p, 0, n & ~1u);
	return edit_drop();
}

/* Where in scratch.wire stand the bytes of a length, while its field is at the begin. */
#define LENGTH_AT 128

/* Bytes that went ahead have the new length, too, as far as it stands among them. */
static __always_inline void fields_lead_length(struct scratch *s, __u32 first)
{
	for (__u32 i = 0; i < LENGTH_LEN; i++) {
		__u32 at = first + i;

		if (at < FIELD_LEN)
			*(volatile __u8 *)(s->wire + SHIFT_AT + at) = s->wire[LENGTH_AT + i];
	}
}

/* Render a field that lies deep, what goes ahead of the packet, and the length of its frame.
 * Returns 0 or -1. */
static __always_inline int fields_shift_render(struct __sk_buff *skb, const struct packet *p,
					       const struct flow *f, const struct http2_flow *h,
					       __u64 *ret_sum)
{
	struct scratch *s = scratch_get();
	__u32 first;

	if (!s)
		return -1;
	first = s->plan.first;
	if (fields_render(skb, p, f, h, first + LENGTH_LEN) != LENGTH_LEN)
		return -1;
	for (__u32 i = 0; i < LENGTH_LEN; i++)
		s->wire[LENGTH_AT + i] = s->wire[i];
	*ret_sum = s->plan.sum;
	s->plan.first = s->plan.last;
	if (fields_render(skb, p, f, h, s->plan.last) != FIELD_LEN ||
	    bpf_skb_load_bytes(skb, p->payload, s->wire + SHIFT_AT, FIELD_LEN))
		return -1;
	s->plan.first = first;
	*ret_sum += s->plan.sum;
	fields_lead_length(s, first);
	return 0;
}

/* A split whose one field lies deep: the bytes before it move in pieces (edit_shift()). */
VERIFIED_ALONE int fields_shift(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct outbound o = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	struct header_change change = {};
	struct http2_flow *h;
	struct flow_key key;
	__u64 sum = 0;
	int sent;
	long err;

	if (!o.s || !p || !f)
		return DROP;
	key = p->key;
	h = http2_lookup(&key, f);
	if (!h)
		return edit_drop();
	if (bpf_skb_pull_data(skb, p->payload + o.s->plan.last) ||
	    fields_shift_render(skb, p, f, h, &sum))
		return fields_take_back(&o, h, REASON_NO_ROOM);
	if (packet_csum(skb) != PACKET_CSUM_PARTIAL)
		sum += 0xffff - csum_fold(csum_wire(o.s, SHIFT_AT, SHIFT_AT + FIELD_LEN));
	sent = lead_send_all(skb, p, SHIFT_AT, FIELD_LEN);
	if (sent == -1)
		return fields_take_back(&o, h, REASON_LEAD_REFUSED);
	if (sent)
		return edit_drop();
	err = write_bytes(skb, p->payload + o.s->plan.first, o.s, LENGTH_AT, LENGTH_LEN);
	err = err ?: shift_payload(skb, p, FIELD_LEN, o.s->plan.last);
	err = err ?: write_bytes(skb, p->payload + o.s->plan.last - FIELD_LEN, o.s, 0, FIELD_LEN);
	change.seq = o.s->plan.wire_seq + FIELD_LEN;
	change.sum = sum;
	err = err ?: write_headers(skb, p, &change);
	return err ? edit_drop() : edit_done(&o, REASON_SPLIT);
}

/* Can the packet be split with all that it carries? */
static __always_inline int fields_can_split(const struct outbound *o)
{
	const struct plan *plan = &o->s->plan;

	return plan->last <= WIRE_MAX && plan->last + plan->added <= WIRE_SIZE &&
	       plan->added <= LEADS_MAX * lead_size(o->skb, o->p);
}

/* Send a packet with the fields that fields_plan() has found. Returns the verdict, or EDIT_SHIFT:
 * fields_shift() is to do it. */
VERIFIED_ALONE int fields_send(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct outbound o = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	struct http2_flow *h;
	struct flow_key key;

	if (!o.s || !p || !f)
		return DROP;
	key = p->key;
	h = http2_lookup(&key, f);
	if (!h)
		return edit_drop();
	if (p->fragment) /* as edit_fragment() */
		return fields_piecemeal(&o, h);
	if (!o.s->plan.added || edit_can_grow(&o, o.s->plan.first))
		return fields_grow(&o, h);
	if (write_begin(skb))
		return fields_take_back(&o, h, REASON_NO_ROOM);
	if (fields_can_split(&o))
		return fields_split(&o, h);
	if (o.s->plan.count == 1 && o.s->plan.last > WIRE_MAX && o.s->plan.last <= DECIDE_DEPTH_MAX)
		return EDIT_SHIFT;
	return fields_piecemeal(&o, h);
}

/*
 * What is left to do with a packet of a flow that speaks HTTP/2. `h`: http2_lookup(). Returns the
 * verdict, EDIT_NUMBER or EDIT_FIELDS_OF.
 */
VERIFIED_ALONE int fields_plan(const struct packet *p, const struct flow *f,
			       const struct http2_flow *h)
{
	struct scratch *s = scratch_get();
	__u32 len;

	if (!s || !p || !f || !flow_has_offset(f))
		return NEXT;
	len = p->fragment ? FRAGMENTS_MAX : p->len;
	if (!edits_meet(&f->edits, p->seq, p->seq + len)) {
		s->plan.wire_seq = edits_to_wire(&f->edits, p->seq);
		return EDIT_NUMBER;
	}
	if (!h) { /* the bytes that were sent cannot be made again */
		count(REASON_DROPPED);
		return DROP;
	}
	fields_measure(p, f, h, p->len);
	return s->plan.count || p->fragment ? EDIT_FIELDS_OF : EDIT_NUMBER;
}

#endif
