/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Beside the way, attended: on its way from a pod to the network a packet passes the outbound hooks
 * of two namespaces, the pod's and the node's. Where the same daemon attends both, the first one
 * decides about the requests in it, and leaves its mark (10-packet); the second one leaves them
 * alone.
 */
#ifndef CTXPROP_TC_ATTENDED_BPF_H
#define CTXPROP_TC_ATTENDED_BPF_H

#include "10-packet.bpf.h"

/* One entry, index 0: which namespaces the daemon attends. Written by user space only. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct attended);
} attended __weak SEC(".maps");

/* Did another namespace of this daemon decide about the requests of a packet? */
static __always_inline int attended_decided(const struct __sk_buff *skb)
{
	__u32 mark = skb->tc_index, from = mark >> 2, zero = 0;
	const struct attended *a;

	/* Programs of one namespace have no other. */
	if (netns_id || !(mark & SIDE_OUT) || from == (packet_netns(skb) & PACKET_MARK_MASK))
		return 0;
	a = bpf_map_lookup_elem(&attended, &zero);
	from &= PACKET_MARK_MASK;
	return a && a->namespace[from / 64] >> from % 64 & 1;
}

/*
 * The requests of a packet are decided about here. Not while editing is switched off: then the
 * programs of another daemon may stand behind ours, and would take the mark for their own.
 */
static __always_inline void attended_decide(struct __sk_buff *skb)
{
	if (!netns_id && !control_paused())
		packet_mark(skb, SIDE_OUT);
}

#endif
