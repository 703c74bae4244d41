/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Still stage 2: how the flow of a connection begins that our side opens.
 */
#ifndef CTXPROP_TC_OPEN_BPF_H
#define CTXPROP_TC_OPEN_BPF_H

#include "24-twice.bpf.h"

/* The peer has answered our SYN: the flow begins. */
static __always_inline void flow_open(struct __sk_buff *skb, const struct packet *p)
{
	struct tcp_options o = {};
	struct flow *f = flow_begin();
	__u32 syn = syn_known(&p->key, p->ack - 1);

	if (!f)
		return;
	tcp_options_read(skb, p, &o);
	packet_met(skb, SIDE_IN);
	if (syn & SYN_TWICE)
		o.refuse = REASON_TWICE;
	f->way_out = SYN_WAY(syn);
	f->way_in = p->way;
	f->isn = p->ack - 1;
	f->next = f->sent = f->peer_ack = p->ack;
	f->peer_next = f->peer_end = p->seq + 1;
	f->window = p->window; /* never scaled in a SYN */
	f->mss = o.mss;
	/* No scale in the SYN-ACK: there is none (RFC 7323, 2.2), and that is known too. */
	f->wscale = o.wscale > TCP_WSCALE_MAX ? TCP_WSCALE_MAX : o.wscale;
	f->flags = FLOW_PEER_SEEN | FLOW_WSCALE;
	http1_init(&f->http, HTTP1_REQUEST);
	if (o.refuse)
		flow_refuse(f, o.refuse);
	if (!flow_publish(&p->key, f))
		return;
	count(REASON_OPEN);
	if (o.refuse)
		count(o.refuse);
}

#endif
