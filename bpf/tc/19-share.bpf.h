/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Beside stage 2: shares of the flow table. A flow whose numbers are shifted is kept for as long as
 * its connection may live, so whoever opens many could fill the table, and then no other would get
 * a header. So where half of the table is taken by such flows, none is begun for who has more than
 * his share of it: a user in a cgroup, or, of what is forwarded, an address.
 */
#ifndef CTXPROP_TC_SHARE_BPF_H
#define CTXPROP_TC_SHARE_BPF_H

#include "10-packet.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct flow_shares);
} flow_shares __weak SEC(".maps");

/* Room in the flow table, set before load. */
const volatile __u32 flows_room __weak = CTXPROP_FLOWS_DEFAULT;

/* So much of it may have an offset before shares are looked at, and so much is one. */
#define SHARES_FROM (flows_room / 2)
#define SHARE_MOST  (flows_room / 8)

static __always_inline struct flow_shares *shares_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&flow_shares, &zero);
}

/* Who forwarded packets are from: an address, or what one network has of IPv6. */
static __always_inline __u64 share_address(const struct packet *p)
{
	const __u64 *word = (const __u64 *)p->key.src;

	return word[0] ?: word[1];
}

/* Who has sent it? */
static __always_inline __u64 share_sender(struct __sk_buff *skb, const struct packet *p,
					  const struct flow *f)
{
	if (f->flags & FLOW_LOCAL)
		return bpf_skb_cgroup_id(skb) << 32 ^ bpf_get_socket_uid(skb);
	return share_address(p);
}

/* Of several who have the same number each has less. */
static __always_inline __u32 share_owner(__u64 sender, __u32 netns)
{
	return ((sender ^ (__u64)netns << 16) * 0x9e3779b97f4a7c15ull) >> (64 - FLOW_OWNERS_BITS);
}

/* A flow is about to get its first header. Returns 0, and it counts from now on, or a reason. */
VERIFIED_ALONE __u32 share_join(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct flow_shares *shares = shares_get();
	__u32 owner;

	if (!p || !f || !shares)
		return 0;
	owner = share_owner(share_sender(skb, p, f), p->key.netns);
	if ((__s32)shares->all >= (__s32)SHARES_FROM &&
	    (__s32)shares->of[owner] >= (__s32)SHARE_MOST)
		return REASON_SHARE_FULL;
	__sync_fetch_and_add(&shares->all, 1);
	__sync_fetch_and_add(&shares->of[owner], 1);
	f->owner = owner + 1;
	return 0;
}

/* A flow goes. */
VERIFIED_ALONE int share_leave(struct flow *f)
{
	struct flow_shares *shares = shares_get();
	__u32 owner;

	if (!f || !shares)
		return 0;
	owner = __sync_lock_test_and_set(&f->owner, 0);
	if (!owner)
		return 0;
	owner = (owner - 1) & (FLOW_OWNERS - 1);
	__sync_fetch_and_sub(&shares->all, 1);
	__sync_fetch_and_sub(&shares->of[owner], 1);
	return 0;
}

#endif
