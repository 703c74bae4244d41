/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Still stage 2: how the flow of a connection begins that our side opens.
 */
#ifndef CTXPROP_TC_OPEN_BPF_H
#define CTXPROP_TC_OPEN_BPF_H

#include "25-twin.bpf.h"

/*
 * A new flow takes the place of `f`. If `f` has an offset it is kept in `formers`, else dropped.
 * Returns the flag that the new flow gets, or -1 if there is no room in `formers`.
 */
static __always_inline int flow_step_back(const struct flow_key *key, struct flow *f)
{
	if (!flow_has_offset(f))
		return f->flags & FLOW_FORMER;
	f->settled = 0;
	f->flags |= FLOW_PAST;
	f->flags &= ~FLOW_FORMER;
	if (!bpf_map_update_elem(&formers, key, f, BPF_ANY))
		return FLOW_FORMER;
	f->flags &= ~FLOW_PAST;
	return -1;
}

/* What is known of a new flow. */
static __always_inline void flow_open_as(const struct packet *p, struct flow *f,
					 const struct tcp_options *o, __u32 way_out)
{
	f->way_out = way_out;
	f->way_in = p->way;
	f->isn = p->ack - 1;
	f->next = f->sent = f->peer_ack = p->ack;
	f->peer_next = f->peer_end = p->seq + 1;
	f->window = p->window; /* never scaled in a SYN */
	f->mss = o->mss;
	/* No scale in the SYN-ACK: there is none (RFC 7323, 2.2), and that is known too. */
	f->wscale = o->wscale > TCP_WSCALE_MAX ? TCP_WSCALE_MAX : o->wscale;
	f->flags = FLOW_PEER_SEEN | FLOW_WSCALE;
	protocol_begin(&f->protocol, PROTOCOL_REQUEST);
	if (o->refuse)
		flow_refuse(f, o->refuse);
}

/*
 * The peer has answered our SYN: the flow begins. `key`: the packet's, on the stack (before 6.4 a
 * map's key must be there); `known`: syn_known(); `old`: the tuple's flow so far, or NULL.
 */
static __always_inline void flow_open(struct __sk_buff *skb, const struct packet *p,
				      const struct flow_key *key, __u32 known, struct flow *old)
{
	struct tcp_options o = {};
	struct flow *f = flow_begin();
	int former = old ? flow_step_back(key, old) : 0;

	if (!f || former < 0)
		return;
	tcp_options_read(skb, p, &o);
	packet_met(skb, SIDE_IN);
	if (known & SYN_DATA)
		o.refuse = REASON_SYN_DATA;
	if (known & SYN_TWICE)
		o.refuse = REASON_TWICE;
	flow_open_as(p, f, &o, SYN_WAY(known));
	f->flags |= former;
	lingering_end(key, 1);
	if (!(old ? flow_replace(key, f) : flow_publish(key, f)))
		return;
	count(REASON_OPEN);
	if (o.refuse)
		count(o.refuse);
}

#endif
