/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, beside 1: acknowledgements of a settled flow, which is one without edits in flight. The
 * same offset translates all of them until the next request leaves, which may be many packets from
 * now while a long body is sent. So the flow need not be looked up for each of them.
 *
 * A CPU forgets what it knows of a settled flow when the epoch of the tuple ends (15-quiet), before
 * the first packet leaves for which another offset is needed; and after a short time in any case,
 * since these programs do not see everything that a tuple is used for.
 *
 * The flow's own entry is updated now and then only: the window that it has may be too small by a
 * little, which hardly ever matters.
 */
#ifndef CTXPROP_TC_IN_SETTLED_BPF_H
#define CTXPROP_TC_IN_SETTLED_BPF_H

#include "in-10-ack.bpf.h"

/* The entry is updated when acknowledgement or window have moved by 1/SETTLED_PART of a window. */
#define SETTLED_PART 8
/* Flows with a smaller window are not settled; bytes. */
#define SETTLED_WINDOW_MIN 16384
/* It is updated after so many jiffies (1 to 10 ms each) in any case. */
#define SETTLED_TICKS 100

/* Is the packet an acknowledgement and nothing else? */
static __always_inline int settled_is_ack(const struct packet *p)
{
	const __u8 others = TCP_SYN | TCP_FIN | TCP_RST | TCP_URG;

	return !p->len && (p->flags & (TCP_ACK | others)) == TCP_ACK && !p->fragment;
}

/* Is this an acknowledgement that the settled offset translates? */
static __always_inline int settled_fits(struct __sk_buff *skb, const struct packet *p,
					const struct quiet *known)
{
	const struct settled *settled = &known->settled;
	__u32 part = settled->window / SETTLED_PART;
	__u32 moved = p->window - settled->window + part;
	__u32 beyond = p->ack - settled->ack;

	return known->kind == QUIET_SETTLED && settled_is_ack(p) && moved <= 2 * part &&
	       beyond < part << (settled->scale & TCP_WSCALE_MASK) &&
	       (__u32)bpf_jiffies64() - settled->jiffies < SETTLED_TICKS &&
	       settled->way == p->way && !sack_possible(skb, p);
}

/* Write its numbers. Returns the verdict. */
static __always_inline int settled_write(struct __sk_buff *skb, const struct packet *p,
					 const struct settled *settled)
{
	struct ack a = {.app = p->ack - settled->offset, .offset = settled->offset};
	__u16 window = ack_window_scaled(p, &a, settled->scale & TCP_WSCALE_MASK);

	return ack_written(skb, write_ack(skb, p, a.app, window));
}

/*
 * May the flow be settled from this acknowledgement on? Not if an edit was in flight when it came:
 * the next request may leave at once then.
 */
static __always_inline int settled_may_begin(const struct packet *p, const struct flow *f,
					     const struct ack *a)
{
	return a->offset && !a->flying && a->believed && settled_is_ack(p) && flow_may_settle(f) &&
	       (f->flags & FLOW_WSCALE) && f->window >= SETTLED_WINDOW_MIN && f->peer_ack == a->app;
}

/* Settle the flow, unless a CPU records an edit at the same time: that sees `settled`, or its edit
 * is seen here. */
VERIFIED_ALONE int settled_begin(const struct packet *p)
{
	struct scratch *s = scratch_get();
	struct settled *settled;
	struct edits_view v;
	struct flow_key key;
	struct flow *f;
	__u32 epoch;

	if (!s || !p)
		return 0;
	key = p->key;
	epoch = quiet_now(&key);
	f = flow_lookup(&key);
	if (!f)
		return 0;
	__sync_lock_test_and_set(&f->settled, 1);
	v = edits_view(&f->edits);
	if (!flow_may_settle(f) || v.count || !v.base)
		return 0;
	settled = &quiet_note(s, &key, epoch, QUIET_SETTLED)->settled;
	settled->offset = v.base;
	settled->ack = p->ack;
	settled->jiffies = bpf_jiffies64();
	settled->window = p->window;
	settled->scale = f->wscale & TCP_WSCALE_MASK;
	settled->way = p->way;
	return 0;
}

#endif
