/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 8, edit and renumber: bring one outbound packet from app bytes to wire bytes.
 *
 *   grow   the packet becomes longer in place
 *   split  the bytes that are too many go ahead as a lead; the packet keeps its length
 *   number only the sequence number changes
 */
#ifndef CTXPROP_TC_EDIT_BPF_H
#define CTXPROP_TC_EDIT_BPF_H

#include "50-plan.bpf.h"
#include "70-lead.bpf.h"

/* Renumber the packet: its first byte is wire byte `wire`. */
static __always_inline int edit_number(struct __sk_buff *skb, const struct packet *p, __u32 wire)
{
	if (wire == p->seq)
		return NEXT;
	packet_mark(skb, SIDE_OUT);
	count(REASON_SEQ);
	if (!write_number(skb, p, TCP_OFF_SEQ, p->seq, wire))
		return NEXT;
	count(REASON_DROPPED);
	return DROP;
}

/* Nothing was written, and nothing will be: the edits of this packet were never made. */
static __always_inline int edit_take_back(struct outbound *o, __u32 reason)
{
	struct flow *f = o->flow;

	/* Edits that were sent before must be sent again, or the receiver waits for ever. */
	if (o->s->plan.count != o->fresh) {
		count(REASON_DROPPED);
		return DROP;
	}
	bpf_spin_lock(&f->lock);
	edits_take_back(&f->edits, o->fresh);
	bpf_spin_unlock(&f->lock);
	count_many(reason, o->fresh);
	o->fresh = 0;
	return edit_number(o->skb, o->p, o->s->plan.wire_seq);
}

/* The packet has been written as a whole. */
static __always_inline int edit_done(struct outbound *o, __u32 how)
{
	packet_mark(o->skb, SIDE_OUT);
	count(how);
	count_many(REASON_INJECTED, o->fresh);
	o->flow->injected += o->fresh;
	if (o->s->plan.count > o->fresh)
		count(REASON_RESENT);
	return NEXT;
}

static __always_inline int edit_drop(void)
{
	count(REASON_DROPPED);
	return DROP;
}

static __always_inline int edit_grow(struct outbound *o, __u32 first)
{
	struct __sk_buff *skb = o->skb;
	struct packet *p = o->p;
	struct scratch *s = o->s;
	int n = plan_render(skb, p, first, p->len);
	__u32 old = packet_tcp_header(p) + p->len;
	long err;

	if (n <= 0)
		return edit_take_back(o, REASON_NO_ROOM);
	/* The end is where the IP header says, not where padding ends. */
	if (write_size(skb, p->payload + p->len + s->plan.added))
		return edit_take_back(o, REASON_NO_ROOM);
	err = write_bytes(skb, p->payload + first, s, 0, n);
	err = err ?: write_length(skb, p, old + s->plan.added);
	err = err ?: write_csum_diff(skb, p, s->plan.sum);
	if (!err && s->plan.wire_seq != p->seq)
		err = write_number(skb, p, TCP_OFF_SEQ, p->seq, s->plan.wire_seq);
	return err ? edit_drop() : edit_done(o, REASON_GROWN);
}

static __always_inline int edit_split(struct outbound *o, __u32 last)
{
	struct __sk_buff *skb = o->skb;
	struct packet *p = o->p;
	struct scratch *s = o->s;
	__u32 lead = s->plan.added, wire = s->plan.wire_seq + lead;
	int n = plan_render(skb, p, 0, last), sent;
	__u64 lead_sum;
	long err = 0;

	if (n != (int)(last + lead))
		return edit_take_back(o, REASON_DEEP);
	lead_sum = csum_wire(s, 0, lead);
	sent = lead_send_all(skb, p, s, lead);
	if (sent == -1)
		return edit_take_back(o, REASON_LEAD_REFUSED);
	if (sent)
		return edit_drop();
	/* What is left of the rendered bytes overwrites the first `last` bytes of the payload. */
	if (last)
		err = write_bytes(skb, p->payload, s, lead, last);
	/* Bytes in: the edits. Bytes out: those that went ahead. */
	err = err ?: write_csum_diff(skb, p, csum_fold((__u64)s->plan.sum +
						       (0xffff - csum_fold(lead_sum))));
	err = err ?: write_number(skb, p, TCP_OFF_SEQ, p->seq, wire);
	return err ? edit_drop() : edit_done(o, REASON_SPLIT);
}

/*
 * A retransmission that TCP has merged until an edit lies too deep inside it. Make progress: send
 * what comes first in packets of their own and drop this one; TCP goes on behind them.
 */
static __noinline int edit_piecemeal(struct outbound *o)
{
	struct plan *plan = &o->s->plan;
	__u32 kept = 0;
	int n;

	if (plan->count == o->fresh)
		return edit_take_back(o, REASON_DEEP);
	for (__u32 i = 0; i < EDITS_MAX; i++)
		kept += i < plan->count && plan->edit[i].at - o->p->seq < LEAD_PIECE;
	plan->count = kept;
	n = plan_render(o->skb, o->p, 0, LEAD_PIECE);
	if (n > 0)
		lead_send_all(o->skb, o->p, o->s, n & ~1u);
	return edit_drop();
}

/* Send the packet as the plan says. */
static __noinline int edit_packet(struct outbound *o)
{
	struct plan *plan = &o->s->plan;
	__u32 first, last;

	if (!plan->count)
		return edit_number(o->skb, o->p, plan->wire_seq);
	first = plan->edit[0].at - o->p->seq;
	last = plan->edit[(plan->count - 1) & EDITS_MASK].at - o->p->seq;
	if (o->p->fragment)
		return edit_take_back(o, REASON_FRAGMENT);
	/* The urgent pointer counts from the sequence number: right only when the bytes in
	 * between stay as many as they were. */
	if (!(o->p->flags & TCP_URG) && decide_can_grow(o->p, o->room, first, plan->added))
		return edit_grow(o, first);
	return last <= WIRE_MAX ? edit_split(o, last) : edit_piecemeal(o);
}

#endif
