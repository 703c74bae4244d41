/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 4, decide: does this request get a header, and where?
 *
 * Asked once for each request, when all its fields have been seen and the blank line is certain.
 * Nothing is written here: the decision is recorded as an edit of the flow. All that can be
 * known to make the packet fail is checked here, before anything is recorded.
 */
#ifndef CTXPROP_TC_DECIDE_BPF_H
#define CTXPROP_TC_DECIDE_BPF_H

#include "38-cause.bpf.h"
#include "carry.bpf.h"
#include "35-policy.bpf.h"
#include "attended.bpf.h"
#include "checksum.bpf.h"
#include "random.bpf.h"
#include "record.bpf.h"

/* Any path carries a payload of this size (RFC 9293, 3.7.1: MSS 536, less 24 for options). */
#define SAFE_PAYLOAD 512
/* Growing moves what stands behind the place; beyond this a split is cheaper. */
#define GROW_TAIL_MAX 2048
/* bpf_skb_change_tail() makes no packet longer than SKB_MAX_ALLOC: four pages, less what the kernel
 * puts behind a packet's bytes. With what stands before the payload. */
#define GROW_LEN_MAX (4 * 4096 - 1024)
/* How far into a packet its only edit may be: as far as the largest head reaches. */
#define DECIDE_DEPTH_MAX 65536

#define ROOM_UNKNOWN 0xffffffff

/* One outbound packet on its way through the stages. */
struct outbound {
	struct __sk_buff *skb;
	struct packet *p;
	struct flow *flow;
	struct scratch *s;
};

/* The largest payload that the device carries behind the headers of this packet. */
static __always_inline __u32 decide_device(const struct outbound *o)
{
	const struct packet *p = o->p;
	__u32 mtu = packet_mtu(o->skb), headers = p->payload - p->l3;

	/* A device carries one VLAN tag beyond its MTU, not two. */
	if (p->l3 > VLAN_ETHERNET_HEADER)
		headers += p->l3 - VLAN_ETHERNET_HEADER;
	if (!mtu)
		return ROOM_UNKNOWN;
	return mtu > headers ? mtu - headers : 0;
}

/*
 * The largest payload that this packet may be grown to, as far as peer and device say; 0: it may
 * not grow. A retransmission is never grown beyond what every path carries: so no path that lost
 * the first, grown packet for its size can lose all the following ones too.
 */
static __always_inline __u32 decide_room(const struct outbound *o)
{
	__u32 options = packet_tcp_header(o->p) - sizeof(struct tcphdr);
	__u32 room = o->s->decision.resent ? SAFE_PAYLOAD : 65535, device;

	if (o->skb->gso_size)
		return 0;
	if (o->flow->mss && o->flow->mss < room + options)
		room = o->flow->mss > options ? o->flow->mss - options : 0;
	device = decide_device(o);
	return device < room ? device : room;
}

/* The largest payload that the path carries, by what the stack of a local sender knows of it. */
static __always_inline __u32 decide_path(const struct outbound *o)
{
	struct bpf_sock *sk = o->skb->sk;
	struct bpf_tcp_sock *tp = sk ? bpf_tcp_sock(sk) : NULL;

	return tp ? tp->mss_cache : 65535;
}

/* Can the packet be grown with all its edits, the first of them at `first`? */
static __always_inline int decide_can_grow(struct outbound *o, __u32 first, __u32 added)
{
	__u32 len = o->p->len + added;

	if (o->s->decision.room == ROOM_UNKNOWN)
		o->s->decision.room = decide_room(o);
	if (len > o->s->decision.room || len > GROW_LEN_MAX || len - first > GROW_TAIL_MAX)
		return 0;
	/* Small enough for any path, unless it was lost before: this path may differ. */
	if (len <= SAFE_PAYLOAD && !o->s->decision.resent)
		return 1;
	if (o->s->decision.path == ROOM_UNKNOWN)
		o->s->decision.path = decide_path(o);
	return len <= o->s->decision.path;
}

VERIFIED_ALONE int decide_bytes(const struct flow *f)
{
	return f ? (int)edits_bytes(&f->edits) : 0;
}

/* Note how many edits are in flight when the request is decided about: mostly none. */
static __always_inline void decide_in_flight(struct outbound *o)
{
	o->s->decision.others = edits_count(&o->flow->edits);
	o->s->decision.bytes = o->s->decision.others ? decide_bytes(o->flow) : 0;
}

/* A window that TCP does not fill before an acknowledgement comes (it begins with ten segments). */
#define WINDOW_WIDE 16384

/*
 * How many bytes of the body may follow at once. If they fill a small window, the added bytes push
 * the last of them out of it, and they are sent again only after a timeout. 0 where room for a
 * header was kept back (in-10-ack), and for large windows: a peer with a small one has no scale.
 */
static __always_inline __u32 decide_behind(const struct outbound *o, __u32 blank)
{
	const struct flow *f = o->flow;
	const struct protocol *protocol = &f->protocol;
	__u32 head = blank + protocol_blank_size(protocol), here;
	__u64 left;

	if (f->wscale || f->window >= WINDOW_WIDE ||
	    (edits_base(&f->edits) && f->window >= WINDOW_KEEP_FROM))
		return 0;
	if (protocol_body_is_open(protocol))
		return WINDOW_WIDE;
	here = o->p->len > head ? o->p->len - head : 0;
	left = protocol_body_left(protocol);
	if (left <= here)
		return 0;
	return left - here < WINDOW_WIDE ? left - here : WINDOW_WIDE;
}

/* Do the added bytes still fit what the peer last said it would take? */
static __always_inline int decide_fits_window(const struct outbound *o, __u32 len)
{
	const struct flow *f = o->flow;
	__u32 in_flight = o->p->seq + o->p->len - f->peer_ack;

	if (!(f->flags & FLOW_WSCALE))
		return 1;
	/* Edits in flight may have been acknowledged in part; they are counted whole to be safe. */
	return in_flight + len + o->s->decision.bytes + o->s->decision.behind <= f->window;
}

/* Would an edit at payload offset `place` be the only one that the packet carries? */
static __always_inline int decide_is_alone(const struct outbound *o, __u32 place)
{
	const struct packet *p = o->p;

	return place <= DECIDE_DEPTH_MAX && !o->s->decision.fresh && !o->s->decision.changed &&
	       !edits_meet(&o->flow->edits, p->seq, p->seq + p->len);
}

/*
 * Choose the payload offset of the edit: before the blank line where the packet can grow (little
 * has to move), after the request line where it must be split. Returns 0 or a reason.
 */
static __always_inline __u32 decide_place(struct outbound *o, __u32 blank, __u32 line, __u32 len,
					  __u32 *place)
{
	__u32 first = o->s->decision.fresh ? o->s->decision.first : blank;
	__u32 added = o->s->decision.added + len;

	if (line == FRAME_NOWHERE || seq_before(o->p->seq + line, o->s->decision.sent))
		line = blank;
	if (seq_before(o->p->seq + blank, o->s->decision.sent))
		return REASON_NO_PLACE;
	if (decide_can_grow(o, first, added)) {
		*place = blank;
		return 0;
	}
	*place = line;
	return line <= WIRE_MAX || decide_is_alone(o, line) ? 0 : REASON_DEEP;
}

/* Draw the ids of a child, or of a new root. One bit is always set, so that they are never zero. */
static __always_inline void decide_ids(struct scratch *s, struct edit *e,
				       const struct policy_verdict *v)
{
	__u64 *trace = (__u64 *)e->trace_id, *span = (__u64 *)e->span_id;

	span[0] = random_next(&s->random) | 1;
	if (cause_is_known(&s->call)) {
		__builtin_memcpy(e->trace_id, s->call.cause.trace_id, sizeof(e->trace_id));
		e->trace_flags = s->call.cause.flags & (TRACEPARENT_SAMPLED | TRACEPARENT_RANDOM);
		return;
	}
	trace[0] = random_next(&s->random);
	trace[1] = random_next(&s->random) | 1;
	e->trace_flags = TRACEPARENT_RANDOM;
	if (policy_samples(v, trace[1]))
		e->trace_flags |= TRACEPARENT_SAMPLED;
}

/*
 * The length of the tracestate line that goes with the traceparent; 0: there is none, or no room
 * for it: the edits that a flow can hold must not come to more than a packet can carry.
 */
static __always_inline __u32 decide_state(const struct outbound *o, const struct policy_verdict *v)
{
	const struct call *call = &o->s->call;
	/* All edits that may be added until these are acknowledged have to fit, too. */
	__u32 others =
	    o->s->decision.bytes + (EDITS_MAX - o->s->decision.others) * TRACEPARENT_LINE_LEN;
	struct tracestate *state;
	__u32 len;

	if (!cause_is_known(call) || !call->cause.tracestate ||
	    (v && (v->flags & POLICY_NO_TRACESTATE)))
		return 0;
	state = tracestate_lookup(*(const __u64 *)call->cause.span_id);
	len = state ? state->len : 0;
	return others + len <= EDITS_BYTES_MAX && decide_fits_window(o, TRACEPARENT_LINE_LEN + len)
		   ? len
		   : 0;
}

/* What the policy has against a header. Returns 0 or a reason. */
static __always_inline __u32 decide_policy(const struct policy_verdict *v, int caused)
{
	if (!v || v->action == POLICY_INJECT)
		return v && (v->flags & POLICY_NO_ROOT) && !caused ? REASON_ROOTLESS : 0;
	if (v->action == POLICY_UNKNOWN)
		return REASON_HOST_UNKNOWN;
	return v->action == POLICY_OBSERVE ? REASON_OBSERVED : REASON_SKIPPED;
}

/* Reasons that need no look at the packet's size. Returns 0 or a reason. */
static __always_inline __u32 decide_eligible(const struct outbound *o)
{
	if (control_paused())
		return REASON_PAUSED;
	if (protocol_head_is_long(&o->flow->protocol))
		return REASON_HEAD_LONG;
	if (o->p->ip_options)
		return REASON_IP_OPTIONS;
	if (!(o->flow->flags & FLOW_PEER_SEEN))
		return REASON_ONE_WAY;
	return 0;
}

/* Record an edit at payload offset `place`. Returns 0 or a reason. */
static __always_inline __u32 decide_record(struct outbound *o, __u32 place, __u32 state)
{
	struct edit *e = &o->s->edit;

	e->at = o->p->seq + place;
	e->len = TRACEPARENT_LINE_LEN;
	e->kind = EDIT_INSERT;
	if (state) {
		o->flow->flags |= FLOW_CARRIES;
		e->len += carry_keep(e, *(const __u64 *)o->s->call.cause.span_id);
	}
	if (!edits_add(&o->flow->edits, e))
		return 0;
	if (e->len > TRACEPARENT_LINE_LEN)
		carry_forget(e);
	return REASON_EDITS_FULL;
}

/* An edit at payload offset `place` is recorded. */
static __always_inline void decide_recorded(struct outbound *o, __u32 place)
{
	if (!o->s->decision.fresh)
		o->s->decision.first = place;
	o->s->decision.fresh++;
	o->s->decision.added += o->s->edit.len;
	o->s->decision.inserted = o->s->edit.len;
}

/*
 * Has it a trace field of its own? A tracestate belongs to a traceparent and is void without one
 * (W3C Trace Context, 3.4): beside ours it would become part of a trace that it does not belong to.
 */
static __always_inline __u32 decide_own(const struct flow *f)
{
	if (protocol_has_parent(&f->protocol))
		return REASON_PRESENT;
	return protocol_has_state(&f->protocol) ? REASON_STATE_ALONE : 0;
}

/* Does a rule want the trace fields of a request to be changed? */
static __always_inline int decide_changes(const struct policy_verdict *v)
{
	return v && (v->action == POLICY_RESTART || v->action == POLICY_STRIP);
}

/*
 * What becomes of a request whose trace fields stay: record an edit, or count why not.
 * REASON_INJECTED is 0 and is counted only when the packet has been written.
 */
static __always_inline void decide_header(struct outbound *o, const struct policy_verdict *v,
					  __u32 blank, __u32 line)
{
	__u32 reason, place = 0, state = 0;

	reason = decide_policy(v, cause_is_known(&o->s->call));
	if (!reason)
		reason = decide_own(o->flow);
	if (!reason)
		reason = decide_eligible(o);
	if (!reason && !decide_fits_window(o, TRACEPARENT_LINE_LEN))
		reason = REASON_WINDOW;
	if (!reason) {
		state = decide_state(o, v);
		reason = decide_place(o, blank, line, TRACEPARENT_LINE_LEN + state, &place);
	}
	if (!reason) {
		decide_ids(o->s, &o->s->edit, v);
		reason = o->flow->owner ? 0 : share_join(o->skb, o->p, o->flow);
	}
	if (!reason)
		reason = decide_record(o, place, state);
	o->s->decision.reason = reason;
	o->s->decision.named = !reason;
	if (reason) {
		count(reason);
		if (reason == REASON_PRESENT)
			cause_count_own(&o->s->call);
		return;
	}
	cause_count(&o->s->call);
	decide_recorded(o, place);
}

/*
 * The blank line of a request is certain at payload offset `blank`, its first field line begins at
 * `line`. Returns 1 when a rule wants its trace fields to be changed: then that is left to do.
 */
VERIFIED_ALONE int decide_request(struct __sk_buff *skb, struct packet *p, struct flow *f,
				  __u32 blank, __u32 line)
{
	struct outbound o = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	const struct policy_verdict *v;
	__u32 start;

	if (!o.s || !p || !f)
		return 0;
	o.s->decision.reason = REASON_NONE;
	o.s->decision.inserted = 0;
	if (attended_decided(skb))
		return 0;
	attended_decide(skb);
	start = cause_head_start(p, &f->protocol, blank);
	v = policy_verdict(skb, p, f, start, p->seq + blank - start);
	f->requests++;
	policy_count(skb, f, v);
	decide_in_flight(&o);
	o.s->decision.behind = decide_behind(&o, blank);
	if (decide_changes(v))
		return 1;
	cause_find(skb, o.s, start, request_id_number(&f->id));
	decide_header(&o, v, blank, line);
	return 0;
}

#endif
