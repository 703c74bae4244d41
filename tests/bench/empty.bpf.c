// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel's own clock readings cost: run times of this are taken off those of others. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tc")
int bench_empty(struct __sk_buff *skb)
{
	(void)skb;
	return -1; /* TC_ACT_UNSPEC: what runs next decides */
}
