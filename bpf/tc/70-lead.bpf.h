/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 7, the lead: the small packet that goes ahead of one that cannot grow.
 *
 * A GSO packet cannot be made longer, and a full-sized segment has no room. So the bytes that
 * are too many go ahead in a packet of their own: a clone of the original, sent through
 * bpf_clone_redirect() to the same device. That runs this program again at once, nested, for
 * the clone. A note on this CPU tells the nested run what it is, and it cuts the clone down.
 * (The original cannot be cut: only the nested run may clear a packet's GSO state.)
 */
#ifndef CTXPROP_TC_LEAD_BPF_H
#define CTXPROP_TC_LEAD_BPF_H

#include "60-write.bpf.h"

/* A lead is no larger than the segments around it, but need not be smaller than this. */
#define LEAD_MIN 448
/* App bytes that are sent in leads alone, when a packet cannot be rewritten as a whole. */
#define LEAD_PIECE 1024
/* Leads of one packet: enough for that piece, or for all the edits that a flow can hold. */
#define LEADS_MAX 7

/* Is this the nested run, for the clone that lead_send() has just made? */
static __always_inline int lead_expected(const struct __sk_buff *skb, const struct lead *lead)
{
	return lead->armed && !lead->taken && lead->ifindex == skb->ifindex &&
	       lead->len == skb->len;
}

/*
 * Turn the clone into the lead. The checks come first: a failing helper leaves it unsent.
 *
 * The flags of ECN stay. With AccECN they are a number, which has to be the same in each packet
 * (RFC 9768, 3.2.2); with classic ECN a second CWR says nothing new.
 */
static __always_inline long lead_write(struct __sk_buff *skb, struct packet *p, struct scratch *s)
{
	__u32 from = s->lead.from, to = s->lead.to, n = to - from;
	__u32 header = packet_tcp_header(p);
	struct header_change change = {
	    .old_len = header + p->len,
	    .len = header + n,
	    .seq = s->lead.seq,
	    .clear = TCP_FIN | TCP_PSH | TCP_URG,
	};
	long err;

	err = write_size(skb, p->payload + n);
	err = err ?: write_bytes(skb, p->payload, s, from, n);
	if (!err && p->fragment)
		err = write_unfragmented(skb, p);
	if (!err && p->jumbo)
		err = write_no_jumbo(skb, p);
	err = err ?: write_headers(skb, p, &change);
	if (err || packet_csum(skb) == PACKET_CSUM_PARTIAL)
		return err;
	return write_csum_anew(skb, p, s, csum_wire(s, from, to), n);
}

/* The nested run. */
VERIFIED_ALONE int lead_run(struct __sk_buff *skb, struct packet *p)
{
	struct scratch *s = scratch_get();

	if (!s || !p || lead_write(skb, p, s))
		return DROP;
	/*
	 * A clone has no socket, and so would not find the queue that the socket's packets take;
	 * in another queue it could be overtaken by the original.
	 */
	if (s->lead.queue)
		skb->queue_mapping = s->lead.queue;
	packet_mark(skb, SIDE_OUT);
	s->lead.taken = 1;
	count(REASON_LEAD);
	return NEXT;
}

/* The transmit queue that the socket's packets take, plus 1; 0: not known. */
static __always_inline __u32 lead_queue(struct __sk_buff *skb)
{
	struct sock_common *socket = packet_socket(skb);

	return socket ? (__u16)(socket->skc_tx_queue_mapping + 1) : 0;
}

/*
 * Send scratch.wire[from..to) ahead of the packet, as wire bytes that begin at `seq`. Returns 0
 * when the lead went on its way, -1 when it was refused and nothing was sent.
 */
static __always_inline int lead_send(struct __sk_buff *skb, struct scratch *s, __u32 from, __u32 to,
				     __u32 seq)
{
	struct lead *lead = &s->lead;

	lead->ifindex = skb->ifindex;
	lead->len = skb->len;
	lead->from = from;
	lead->to = to;
	lead->seq = seq;
	lead->queue = lead_queue(skb);
	lead->taken = 0;
	lead->armed = 1;
	bpf_clone_redirect(skb, skb->ifindex, 0);
	lead->armed = 0;
	return lead->taken ? 0 : -1;
}

/* The size of the leads of a packet: even, and not above that of its own segments. */
static __always_inline __u32 lead_size(const struct __sk_buff *skb, const struct packet *p)
{
	__u32 size = skb->gso_size ? skb->gso_size : p->len;

	size = size < LEAD_MIN ? LEAD_MIN : size;
	return (size > WIRE_MAX ? WIRE_MAX : size) & ~1u;
}

/*
 * Send scratch.wire[at..at + n) ahead, in as many leads as it takes. Returns 0, -1 when nothing was
 * sent, -2 when only a part was.
 */
VERIFIED_ALONE int lead_send_all(struct __sk_buff *skb, const struct packet *p, __u32 at, __u32 n)
{
	struct scratch *s = scratch_get();
	__u32 size, from = 0;

	if (!s || !p)
		return -1;
	size = lead_size(skb, p);
	for (int i = 0; i < LEADS_MAX; i++) {
		__u32 to = n - from > size ? from + size : n;

		if (lead_send(skb, s, at + from, at + to, s->plan.wire_seq + from))
			return from ? -2 : -1;
		from = to;
		if (from == n)
			return 0;
	}
	return -2;
}

#endif
