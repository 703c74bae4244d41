// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel's own clock readings cost where bpf/profile/offcpu.bpf.h is called. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char _license[] SEC("license") = "GPL";

SEC("tp_btf/sched_switch")
int empty_switch(void *ctx)
{
	(void)ctx;
	return 0;
}

SEC("tp_btf/sched_wakeup")
int empty_wakeup(void *ctx)
{
	(void)ctx;
	return 0;
}
