/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Still stage 2: two live connections with the same addresses and ports, as tenants may have whom
 * a node keeps apart by bridges, VRFs or routing rules. The table has one flow for the tuple, that
 * of the first connection; packets of the other one, its twin, pass as they are.
 *
 * As long as no twin was met, a packet belongs to the flow if it came the same way as the last one,
 * or if its numbers fit (routes change). Once there is a twin, both have to hold. Numbers alone are
 * not enough: Linux derives the initial ones from addresses, ports and a clock that advances by
 * some kilobytes in a millisecond, so those of two connections may be close.
 */
#ifndef CTXPROP_TC_TWIN_BPF_H
#define CTXPROP_TC_TWIN_BPF_H

#include "24-twice.bpf.h"

/* How far the number of a packet of ours may lie from that of the last one. */
static __always_inline __u32 twin_reach(const struct flow *f)
{
	return FLOW_NEAR + f->window;
}

/* Can a number that the peer has from us, as it was on the wire, be one of the flow's? */
static __always_inline int twin_fits_wire(__u32 wire, const struct flow *f)
{
	return flow_near(wire - edits_base(&f->edits), f->sent, twin_reach(f));
}

/* Can the packet belong to the flow, by its numbers? */
static __always_inline int twin_fits(const struct packet *p, const struct flow *f)
{
	if (p->side == SIDE_OUT)
		return flow_near(p->seq, f->sent, twin_reach(f)) &&
		       (!(p->flags & TCP_ACK) || flow_near(p->ack, f->peer_next, FLOW_NEAR));
	return flow_near(p->seq, f->peer_next, 4 * FLOW_NEAR) &&
	       (!(p->flags & TCP_ACK) || twin_fits_wire(p->ack, f));
}

/* The flow has a twin: from now on each packet has to be looked at. */
static __always_inline void twin_met(const struct flow_key *key, struct flow *f)
{
	count(REASON_TWIN);
	f->flags |= FLOW_TWIN;
	flow_unsettle(key, f);
}

/*
 * A packet of a flow that waits for a place to be joined came another way than the one before. If
 * it has nothing new, the connection passes twice (24-twice) and is older than these programs. If
 * it does not continue what was sent, it belongs to another connection. The flow is left alone in
 * both cases, before anything of it is changed.
 */
static __always_inline void twin_while_learning(struct __sk_buff *skb, const struct packet *p,
						struct flow *f)
{
	if (!p->len || packet_was_met(skb, SIDE_OUT))
		return;
	if (!seq_before(f->sent, p->seq + p->len))
		flow_make_opaque(f, REASON_TWICE);
	else if (p->seq != f->sent)
		flow_make_opaque(f, REASON_TWIN);
}

/*
 * A packet that came by another way than the last one, or one of a flow that has a twin. Returns
 * whether it is the flow's.
 */
VERIFIED_ALONE int twin_judge(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	__u32 *known;

	if (!p || !f)
		return 1;
	known = p->side == SIDE_OUT ? &f->way_out : &f->way_in;
	if (p->side == SIDE_OUT && (f->flags & FLOW_LEARN) && *known != p->way)
		twin_while_learning(skb, p, f);
	if (twin_fits(p, f) &&
	    (!(f->flags & FLOW_TWIN) || !*known || packet_ways_meet(*known, p->way))) {
		*known = p->way;
		return 1;
	}
	count(REASON_TWIN);
	return 0;
}

/* Has a twin of the flow sent the packet? `way`: by which the flow's last one came. */
static __always_inline int twin_sent(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				     __u32 way)
{
	return (way != p->way || (f->flags & (FLOW_TWIN | FLOW_DOUBT))) && !twin_judge(skb, p, f);
}

/*
 * A connection of the flow's tuple is opened while the flow is known, or packets are forged that
 * look so. From now on only packets whose numbers fit belong to the flow.
 */
static __always_inline void twin_suspect(const struct flow_key *key, struct flow *f)
{
	f->flags |= FLOW_DOUBT;
	flow_unsettle(key, f);
}

/*
 * The peer has answered another SYN than the flow's. Returns whether that was a twin's, by its way:
 * then the flow stays in the table.
 */
static __always_inline int twin_begins(const struct flow_key *key, struct flow *f, __u32 way)
{
	if (!f->way_out || !way || packet_ways_meet(f->way_out, way))
		return 0;
	twin_met(key, f);
	return 1;
}

/* How far a number lies outside of [from, to]. */
static __always_inline __u32 twin_outside(__u32 number, __u32 from, __u32 to)
{
	if (seq_before(number, from))
		return from - number;
	return seq_before(to, number) ? number - to : 0;
}

/* How far the numbers of a packet are from those that a flow waits for. */
static __always_inline __u64 twin_distance(const struct packet *p, const struct flow *f)
{
	int out = p->side == SIDE_OUT;
	__u32 ours = out ? p->seq : p->ack - edits_base(&f->edits);

	return (__u64)twin_outside(ours, f->peer_ack, f->sent) +
	       twin_outside(out ? p->ack : p->seq, f->peer_next, f->peer_end);
}

/*
 * There are two flows of a tuple, and the older one may be alive: does the packet belong to that?
 * It belongs to the flow whose numbers are nearer to its own.
 */
VERIFIED_ALONE int twin_is_former(const struct packet *p, struct flow *f)
{
	struct flow_key key;
	struct flow *former;

	if (!p || !f)
		return 0;
	key = p->key; /* before 6.4 a map's key must be on the stack */
	former = flow_former(&key);
	if (!former || !twin_fits(p, former) ||
	    (flow_has_edits(f) && twin_distance(p, f) < twin_distance(p, former)))
		return 0;
	f->seen_ns = clock_coarse(); /* as long as one of them lives both are kept */
	return 1;
}

/* The flow that a packet belongs to; NULL: none that is known. */
static __always_inline struct flow *twin_lookup(const struct packet *p)
{
	struct flow *f = flow_lookup(&p->key);

	if (f && (f->flags & FLOW_FORMER) && twin_is_former(p, f))
		return flow_former(&p->key);
	return f;
}

#endif
