// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entry programs, for a daemon that attends several network namespaces with one set of packet
 * programs. Only these are attached in a namespace: they note which namespace it is and jump to the
 * shared programs in the map `programs`. So a further namespace costs next to nothing, and a new
 * build replaces the programs of all namespaces at once.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "abi.h"

char _license[] SEC("license") = "GPL";

#define NEXT -1 /* TC_ACT_UNSPEC, TCX_NEXT */

/* The network namespace that this set of entries is attached in: the low half of its cookie. */
const volatile __u32 entry_netns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, ENTRY_PROGRAMS);
	__type(key, __u32);
	__type(value, __u32);
} programs SEC(".maps");

static __always_inline int enter(struct __sk_buff *skb, __u32 program)
{
	skb->cb[ENTRY_CB] = entry_netns;
	bpf_tail_call_static(skb, &programs, program);
	return NEXT;
}

SEC("tc")
int ctxprop_in_eth(struct __sk_buff *skb)
{
	return enter(skb, ENTRY_IN_ETH);
}

SEC("tc")
int ctxprop_in_ip(struct __sk_buff *skb)
{
	return enter(skb, ENTRY_IN_IP);
}

SEC("tc")
int ctxprop_out_eth(struct __sk_buff *skb)
{
	return enter(skb, ENTRY_OUT_ETH);
}

SEC("tc")
int ctxprop_out_ip(struct __sk_buff *skb)
{
	return enter(skb, ENTRY_OUT_IP);
}
