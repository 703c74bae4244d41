/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Still stage 2: connections that pass this namespace twice.
 *
 * Their packets go through a box outside that inspects or balances them, or through a program that
 * moves packets from one device to another. (Within the kernel a packet keeps its mark.) They look
 * the same both times, and would be changed twice. So they have to be recognised before anything is
 * changed: by a SYN or SYN-ACK that comes again sooner than a retransmission could, and another
 * way than a copy that the network has made.
 */
#ifndef CTXPROP_TC_TWICE_BPF_H
#define CTXPROP_TC_TWICE_BPF_H

#include "22-options.bpf.h"

/*
 * Packets that open a connection, and were not changed, get another mark: the namespace's id,
 * inverted. So they are recognised at the next hook on their way through the kernel, while programs
 * of an older build, which know the first mark only, still look at them.
 */
static __always_inline int packet_was_met(const struct __sk_buff *skb, enum packet_side side)
{
	__u32 mark = skb->tc_index;

	return (mark & side) && mark >> 2 == (~packet_netns(skb) & PACKET_MARK_MASK);
}

static __always_inline void packet_met(struct __sk_buff *skb, enum packet_side side)
{
	skb->tc_index = (~packet_netns(skb) & PACKET_MARK_MASK) << 2 | side;
}

#define TWICE_NS 200000000

static __always_inline int flow_is_soon(__u64 since_ns, __u64 limit_ns)
{
	return (__s64)(clock_coarse() - since_ns) < (__s64)limit_ns;
}

/*
 * The SYNs that left last, for which there is no flow yet. A hash has SYN_WAYS places; if all are
 * taken, the oldest SYN is forgotten.
 */
#define SYNS_MAX 65536 /* a power of two */
#define SYN_WAYS 4     /* places of one hash: a power of two */

struct syns {
	/* High half: the hash; low half: time, way, SYN_DATA, SYN_TWICE. */
	__u64 seen[SYNS_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct syns);
} syns __weak SEC(".maps");

#define SYN_TWICE      1
#define SYN_DATA       2
#define SYN_WAY(w)     ((__u32)(w) >> 2 & ((1 << PACKET_WAY_BITS) - 1))
#define SYN_TIME_SHIFT (2 + PACKET_WAY_BITS)
#define SYN_TIME_NS    2000000

static __always_inline __u64 syn_hash(const struct flow_key *key, __u32 isn)
{
	return (quiet_hash(key) ^ isn) * 0x9e3779b97f4a7c15ull;
}

/* One of the places of a hash. The namespace shows in its upper bits only. */
static __always_inline __u64 *syn_slot(struct syns *s, __u64 hash, __u32 way)
{
	__u32 place = ((hash ^ hash >> 44) & ~(__u64)(SYN_WAYS - 1)) | way;

	return &s->seen[place & (SYNS_MAX - 1)];
}

/* How long ago a word of `seen` was written, in units of SYN_TIME_NS. */
static __always_inline __u32 syn_age(__u32 now, __u32 before)
{
	__u32 passed = (now >> SYN_TIME_SHIFT) - (before >> SYN_TIME_SHIFT);

	return passed << SYN_TIME_SHIFT >> SYN_TIME_SHIFT;
}

/* Where a SYN of this hash is kept; else the place that was not written for the longest time. */
static __always_inline __u64 *syn_place(__u64 hash, __u32 now)
{
	__u32 zero = 0, oldest = 0;
	struct syns *s = bpf_map_lookup_elem(&syns, &zero);
	__u64 *place = NULL;

	if (!s)
		return NULL;
#pragma clang loop unroll(full)
	for (int way = 0; way < SYN_WAYS; way++) {
		__u64 *slot = syn_slot(s, hash, way);

		if (*slot >> 32 == hash >> 32)
			return slot;
		if (!place || !*slot || syn_age(now, *slot) > oldest) {
			oldest = *slot ? syn_age(now, *slot) : ~0U;
			place = slot;
		}
	}
	return place;
}

/* Has so little time passed between two words of `seen`? */
static __always_inline int syn_is_soon(__u32 now, __u32 before)
{
	return syn_age(now, before) < TWICE_NS / SYN_TIME_NS;
}

/* Our side sends a SYN, which is to be acknowledged behind number `isn`. */
static __always_inline void syn_note(const struct packet *p, __u32 isn)
{
	__u32 way = p->way;
	__u32 now = (__u32)(clock_coarse() / SYN_TIME_NS) << SYN_TIME_SHIFT | way << 2;
	__u64 hash = syn_hash(&p->key, isn), *place = syn_place(hash, now), before;

	if (!place)
		return;
	before = *place;
	if (p->len)
		now |= SYN_DATA;
	if (before >> 32 == hash >> 32) {
		now |= before & SYN_DATA;
		if (syn_is_soon(now, before) && (SYN_WAY(before) != way || before & SYN_TWICE))
			now |= SYN_TWICE;
	}
	*place = hash >> 32 << 32 | now;
}

/* A SYN with data may be acknowledged with them or without: it is noted for both numbers. */
VERIFIED_ALONE int syn_met(struct __sk_buff *skb, const struct packet *p)
{
	if (!p || packet_was_met(skb, SIDE_OUT))
		return 0;
	packet_met(skb, SIDE_OUT);
	syn_note(p, p->seq);
	if (p->len)
		syn_note(p, p->seq + p->len);
	return 0;
}

/* What is known of a SYN; 0: nothing any more. */
static __always_inline __u32 syn_known(const struct flow_key *key, __u32 isn)
{
	__u64 hash = syn_hash(key, isn), *place = syn_place(hash, 0);

	return place && *place >> 32 == hash >> 32 ? *place : 0;
}

/* A SYN-ACK for a flow that exists: if it is the first one, on its second pass, leave the flow
 * alone. */
static __always_inline void flow_opens_again(struct __sk_buff *skb, const struct packet *p,
					     struct flow *f)
{
	if (packet_was_met(skb, SIDE_IN) || (f->flags & (FLOW_LOCAL | FLOW_FORWARDED)) ||
	    p->ack != f->isn + 1)
		return;
	if (flow_is_soon(f->opened_ns, TWICE_NS) && f->way_in != p->way)
		flow_make_opaque(f, REASON_TWICE);
}

#endif
