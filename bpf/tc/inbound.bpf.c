// SPDX-License-Identifier: GPL-2.0-only
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
char _license[] SEC("license") = "GPL";
SEC("tc")
int ctxprop_in_eth(struct __sk_buff *skb)
{
	(void)skb;
	return -1;
}
SEC("tc")
int ctxprop_in_ip(struct __sk_buff *skb)
{
	(void)skb;
	return -1;
}
