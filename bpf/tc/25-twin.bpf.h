/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Still stage 2: two live connections that have the same addresses and ports, as those of tenants
 * may that a node keeps apart by bridges, VRFs or rules of routing. There is one flow for both, and
 * it is that of the first: packets of the other, its twin, pass as they are.
 *
 * As long as there is none, packets are the flow's that come as its last one did, or whose numbers
 * fit: routes change. Once there is a twin both have to be right. (Numbers alone are not enough:
 * Linux derives the initial ones from addresses and ports, and from a clock that goes on by some
 * kilobytes in a millisecond.)
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

/* There is one. Nothing may be known of the tuple without a look at the packet. */
static __always_inline void twin_met(const struct flow_key *key, struct flow *f)
{
	count(REASON_TWIN);
	f->flags |= FLOW_TWIN;
	flow_unsettle(key, f);
}

/*
 * A flow that waits for a place to join is met by another way. With nothing new: then the
 * connection is older than these programs, and passes twice (24-twice; within the machine each
 * packet is met again). With something that does not follow: then it is not even the same one. It
 * is left alone in both cases, before anything of it is changed.
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
 * Our side opens a connection while this flow is known, or lets the peer; or a stranger wants us to
 * think so. From now on the flow's packets are those whose numbers fit.
 */
static __always_inline void twin_suspect(const struct flow_key *key, struct flow *f)
{
	f->flags |= FLOW_DOUBT;
	flow_unsettle(key, f);
}

/*
 * The peer has answered another SYN than the flow's. Is it a twin's, since it took another way?
 * Then the flow goes on.
 */
static __always_inline int twin_begins(const struct flow_key *key, struct flow *f, __u32 way)
{
	if (!f->way_out || !way || packet_ways_meet(f->way_out, way))
		return 0;
	twin_met(key, f);
	return 1;
}

/* How far a number is outside of what lies from one to another. */
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
 * Two flows of a tuple, the older one of which has not ended for all we know: does the packet
 * belong to that? The one is it whose numbers are nearer.
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
