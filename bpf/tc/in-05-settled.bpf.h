/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, beside 1: acknowledgements of a settled flow, one without edits in flight. All that they
 * say changes by the same number until the next request leaves, and that may be many packets from
 * now, as where a long body is sent. Its flow need not be searched for each of them.
 *
 * What a CPU remembers of a settled flow ends with the epoch of its tuple (15-quiet), before the
 * first packet leaves to which it would not apply. Nor is it believed for longer than a moment, so
 * that it is of no consequence if tuples change hands where these programs do not see it.
 *
 * The flow itself is told now and then only. What it believes of the peer's window errs towards too
 * little, by so much that it hardly ever matters.
 */
#ifndef CTXPROP_TC_IN_SETTLED_BPF_H
#define CTXPROP_TC_IN_SETTLED_BPF_H

#include "in-10-ack.bpf.h"

/* The flow is told when the acknowledgements, or the window, have moved by this part of a window,
 */
#define SETTLED_PART 8
/* of at least so many bytes, */
#define SETTLED_WINDOW_MIN 16384
/* and after so many ticks of the kernel's clock (1 to 10 ms). */
#define SETTLED_TICKS 100

/* Does the packet say nothing but what the peer has received, and what it takes? */
static __always_inline int settled_is_ack(const struct packet *p)
{
	const __u8 others = TCP_SYN | TCP_FIN | TCP_RST | TCP_URG;

	return !p->len && (p->flags & (TCP_ACK | others)) == TCP_ACK && !p->fragment;
}

/* Is this an acknowledgement like the last one that the flow was told of? */
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
 * Was this an acknowledgement upon which others may follow that change as it has? Not the one upon
 * which the last edit has retired: after that the next request may leave at once.
 */
static __always_inline int settled_may_begin(const struct packet *p, const struct flow *f,
					     const struct ack *a)
{
	return a->offset && !a->flying && a->believed && settled_is_ack(p) && flow_may_settle(f) &&
	       (f->flags & FLOW_WSCALE) && f->window >= SETTLED_WINDOW_MIN && f->peer_ack == a->app;
}

/* Remember it. Whoever records an edit meanwhile sees `settled`, or is seen here. */
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
