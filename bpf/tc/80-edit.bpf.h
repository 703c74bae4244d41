/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 8, edit and renumber: bring one outbound packet from app bytes to wire bytes.
 *
 *   grow   the packet becomes longer in place
 *   split  the bytes that are too many go ahead as a lead; the packet keeps its length
 *   shift  the same, for one edit that lies deep: the bytes before it move in pieces
 *   number only the sequence number changes
 */
#ifndef CTXPROP_TC_EDIT_BPF_H
#define CTXPROP_TC_EDIT_BPF_H

#include "50-plan.bpf.h"
#include "70-lead.bpf.h"
#include "75-change.bpf.h"

/* The line of an edit and two bytes behind it: as many as the words of a line hold. */
#define EDIT_LAST_LEN (TRACEPARENT_LINE_LEN + 2)
_Static_assert(EDIT_LAST_LEN == sizeof(struct traceparent_line), "the line and two bytes");

/* Where in scratch.wire stands what edit_shift() moves: behind the edit itself. */
#define SHIFT_AT WIRE_MAX
/* In so many pieces it moves all of the largest head. */
#define SHIFT_PIECES_MAX (DECIDE_DEPTH_MAX / WIRE_MAX)

/* Renumber the packet: its first byte is wire byte `wire`. */
static __always_inline int edit_number(struct __sk_buff *skb, const struct packet *p, __u32 wire)
{
	struct header_change change = {.seq = wire};

	if (wire == p->seq)
		return NEXT;
	packet_mark(skb, SIDE_OUT);
	count(REASON_SEQ);
	if (!write_begin(skb) && !write_headers(skb, p, &change))
		return NEXT;
	count(REASON_DROPPED);
	return DROP;
}

/* Nothing was written, and nothing will be: the edits of this packet were never made. */
static __always_inline int edit_take_back(struct outbound *o, __u32 reason)
{
	struct flow *f = o->flow;

	/* Edits that were sent before must be sent again, or the receiver waits for ever. */
	if (o->s->plan.count != o->s->decision.fresh) {
		count(REASON_DROPPED);
		return DROP;
	}
	carry_take_back(f, o->s->decision.fresh + o->s->decision.changed);
	if (o->s->decision.changed) /* some of what is recorded is in the packet already */
		edits_void(&f->edits, o->s->decision.fresh + o->s->decision.changed);
	else
		edits_take_back(&f->edits, o->s->decision.fresh);
	count_many(reason, o->s->decision.fresh);
	o->s->decision.fresh = 0;
	return edit_number(o->skb, o->p, o->s->plan.wire_seq);
}

/* The packet has been written as a whole. */
static __always_inline int edit_done(struct outbound *o, __u32 how)
{
	packet_mark(o->skb, SIDE_OUT);
	count(how);
	count_many(REASON_INJECTED, o->s->decision.fresh);
	o->flow->injected += o->s->decision.fresh;
	if (o->s->plan.count > o->s->decision.fresh)
		count(REASON_RESENT);
	return NEXT;
}

static __always_inline int edit_drop(void)
{
	count(REASON_DROPPED);
	return DROP;
}

/* Does the packet end two bytes behind its only edit? In most heads these are the blank line. */
static __always_inline int edit_is_last(const struct packet *p, const struct plan *plan,
					__u32 first)
{
	return plan->count == 1 && p->len - first == 2 &&
	       plan->edit[0].len == TRACEPARENT_LINE_LEN &&
	       p->payload + first + EDIT_LAST_LEN <= PACKET_HEADERS_MAX;
}

/* Such a packet: the line and the two bytes are written at once. */
static __always_inline int edit_append(struct outbound *o, __u32 first)
{
	struct __sk_buff *skb = o->skb;
	const struct packet *p = o->p;
	struct scratch *s = o->s;
	__u32 place = p->payload + first;
	struct header_change change = {
	    .old_len = packet_tcp_header(p) + p->len,
	    .len = packet_tcp_header(p) + p->len + TRACEPARENT_LINE_LEN,
	    .seq = s->plan.wire_seq,
	};

	if (write_size(skb, place + EDIT_LAST_LEN))
		return edit_take_back(o, REASON_NO_ROOM);
	traceparent_write(&s->line, &s->plan.edit[0]);
	change.sum = plan_sum_at(render_sum(&s->line), first);
	if (write_line(skb, place, &s->line) || write_headers(skb, p, &change))
		return edit_drop();
	return edit_done(o, REASON_GROWN);
}

static __always_inline int edit_grow(struct outbound *o, __u32 first)
{
	struct __sk_buff *skb = o->skb;
	struct packet *p = o->p;
	struct scratch *s = o->s;
	int n = plan_render(skb, p, first, p->len);
	struct header_change change = {
	    .old_len = packet_tcp_header(p) + p->len,
	    .seq = s->plan.wire_seq,
	};
	long err;

	if (n <= 0)
		return edit_take_back(o, REASON_NO_ROOM);
	/* The end is where the IP header says, not where padding ends. */
	if (write_size(skb, p->payload + p->len + s->plan.added))
		return edit_take_back(o, REASON_NO_ROOM);
	err = write_bytes(skb, p->payload + first, s, 0, n);
	change.len = change.old_len + s->plan.added;
	change.sum = s->plan.sum;
	err = err ?: write_headers(skb, p, &change);
	return err ? edit_drop() : edit_done(o, REASON_GROWN);
}

static __always_inline int edit_split(struct outbound *o, __u32 last)
{
	struct __sk_buff *skb = o->skb;
	struct packet *p = o->p;
	struct scratch *s = o->s;
	__u32 lead = s->plan.added, wire = s->plan.wire_seq + lead;
	int n = plan_render(skb, p, 0, last), sent;
	struct header_change change = {.seq = wire};
	__u64 lead_sum = 0;
	long err = 0;

	if (n != (int)(last + lead))
		return edit_take_back(o, REASON_DEEP);
	if (packet_csum(skb) != PACKET_CSUM_PARTIAL)
		lead_sum = csum_wire(s, 0, lead);
	sent = lead_send_all(skb, p, 0, lead);
	if (sent == -1)
		return edit_take_back(o, REASON_LEAD_REFUSED);
	if (sent)
		return edit_drop();
	/* What is left of the rendered bytes overwrites the first `last` bytes of the payload. */
	if (last)
		err = write_bytes(skb, p->payload, s, lead, last);
	/* Bytes in: the edits. Bytes out: those that went ahead. */
	change.sum = s->plan.sum + (0xffff - csum_fold(lead_sum));
	err = err ?: write_headers(skb, p, &change);
	return err ? edit_drop() : edit_done(o, REASON_SPLIT);
}

/* `n` bytes of the packet at `from` go to `to` as well. Returns 0 or a negative error. */
VERIFIED_ALONE int shift_piece(struct __sk_buff *skb, __u32 from, __u32 to, __u32 n)
{
	struct scratch *s = scratch_get();

	if (!s || !size_within(&n, WIRE_MAX) ||
	    bpf_skb_load_bytes(skb, from, s->wire + SHIFT_AT, n))
		return -1;
	return write_bytes(skb, to, s, SHIFT_AT, n);
}

/* Payload bytes [by, to) take the place of [0, to - by). Returns 0 or a negative error. */
static __always_inline int shift_payload(struct __sk_buff *skb, const struct packet *p, __u32 by,
					 __u32 to)
{
	__u32 from = by;

	for (int i = 0; i < SHIFT_PIECES_MAX && from < to; i++) {
		__u32 n = to - from > WIRE_MAX ? WIRE_MAX : to - from;

		if (shift_piece(skb, p->payload + from, p->payload + from - by, n))
			return -1;
		from += n;
	}
	return from >= to ? 0 : -1;
}

/*
 * A split whose one edit lies deep. The edit is rendered to the begin of scratch.wire
 * before anything is sent; what goes ahead and what moves passes through the rest of it.
 */
VERIFIED_ALONE int edit_shift(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct outbound o = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	struct scratch *s = o.s;
	struct header_change change = {};
	__u64 lead_sum = 0;
	__u32 lead, place;
	long err;
	int sent;

	if (!s || !p || !f)
		return DROP;
	lead = s->plan.added;
	place = s->plan.edit[0].at - p->seq;
	change.seq = s->plan.wire_seq + lead;
	if (bpf_skb_pull_data(skb, p->payload + place))
		return edit_take_back(&o, REASON_NO_ROOM);
	if (!size_within(&lead, EDITS_BYTES_MAX) ||
	    plan_render(skb, p, place, place) != (int)lead ||
	    bpf_skb_load_bytes(skb, p->payload, s->wire + SHIFT_AT, lead))
		return edit_take_back(&o, REASON_DEEP);
	if (packet_csum(skb) != PACKET_CSUM_PARTIAL)
		lead_sum = csum_wire(s, SHIFT_AT, SHIFT_AT + lead);
	sent = lead_send_all(skb, p, SHIFT_AT, lead);
	if (sent == -1)
		return edit_take_back(&o, REASON_LEAD_REFUSED);
	if (sent)
		return edit_drop();
	err = shift_payload(skb, p, lead, place);
	err = err ?: write_bytes(skb, p->payload + place - lead, s, 0, lead);
	change.sum = s->plan.sum + (0xffff - csum_fold(lead_sum));
	err = err ?: write_headers(skb, p, &change);
	return err ? edit_drop() : edit_done(&o, REASON_SPLIT);
}

/*
 * A retransmission that TCP has merged until an edit lies too deep inside it, or until IP cuts it
 * to fragments. Make progress: send what comes first in packets of their own and drop this one; TCP
 * goes on behind them.
 */
static __always_inline int edit_piecemeal(struct outbound *o)
{
	struct plan *plan = &o->s->plan;
	__u32 kept = 0, piece = o->p->len < LEAD_PIECE ? o->p->len : LEAD_PIECE;
	int n;

	if (o->s->decision.fresh && plan->count == o->s->decision.fresh)
		return edit_take_back(o, REASON_DEEP);
	for (__u32 i = 0; i < EDITS_MAX; i++)
		kept += i < plan->count && plan->edit[i].at - o->p->seq < piece;
	plan->count = kept;
	n = plan_render(o->skb, o->p, 0, piece);
	if (n > 0)
		lead_send_all(o->skb, o->p, 0, n & ~1u);
	return edit_drop();
}

/* A packet is no longer than that, headers and all. */
#define FRAGMENTS_MAX 65535

/*
 * The first fragment of a packet. The others, which have no numbers, are out of reach: the packet
 * cannot be left whole where an edit is about any of its bytes, and how many these are is not
 * known.
 */
static __always_inline int edit_fragment(struct outbound *o)
{
	struct packet *p = o->p;

	if (edits_meet(&o->flow->edits, p->seq, p->seq + FRAGMENTS_MAX))
		return edit_piecemeal(o);
	return edit_number(o->skb, p, o->s->plan.wire_seq);
}

/* Can the packet be grown with all edits of the plan? */
static __always_inline int edit_can_grow(struct outbound *o, __u32 first)
{
	/* The urgent pointer counts from the sequence number: right only when the bytes in
	 * between stay as many as they were. */
	return !(o->p->flags & TCP_URG) && decide_can_grow(o, first, o->s->plan.added);
}

/* No verdicts: nothing was written yet. */
#define EDIT_NUMBER    256 /* edit_number(), by the plan, is all that is left to do */
#define EDIT_AT_LENGTH 257 /* edit_at_length() is to do it */
#define EDIT_SHIFT     258 /* edit_shift() is to do it: not called from there, for want of stack */
#define EDIT_FIELDS_OF 259 /* fields_send() is to do it */

/* All but the most frequent cases; the plan is made. Returns the verdict, or EDIT_SHIFT. */
VERIFIED_ALONE int edit_at_length(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct outbound o = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	const struct plan *plan;
	__u32 first, last;

	if (!o.s || !p || !f)
		return DROP;
	plan = &o.s->plan;
	if (p->fragment)
		return edit_fragment(&o);
	first = plan->edit[0].at - p->seq;
	last = plan->edit[(plan->count - 1) & EDITS_MASK].at - p->seq;
	if (edit_can_grow(&o, first))
		return edit_grow(&o, first);
	if (write_begin(skb))
		return edit_take_back(&o, REASON_NO_ROOM);
	if (last <= WIRE_MAX)
		return edit_split(&o, last);
	if (plan->count == 1 && last <= DECIDE_DEPTH_MAX)
		return EDIT_SHIFT;
	return edit_piecemeal(&o);
}

/*
 * Send a packet of a flow that has an offset, with the edits that it has to carry. Returns the
 * verdict, or what is left to do.
 */
static __always_inline int edit_packet(struct outbound *o)
{
	struct plan *plan = &o->s->plan;
	__u32 first;

	plan_make(o->flow, o->p->seq, o->p->len, plan);
	if (o->p->fragment)
		return EDIT_AT_LENGTH;
	if (!plan->count)
		return EDIT_NUMBER;
	first = plan->edit[0].at - o->p->seq;
	if (edit_is_last(o->p, plan, first) && edit_can_grow(o, first))
		return edit_append(o, first);
	return EDIT_AT_LENGTH;
}

#endif
