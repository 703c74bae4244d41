/* SPDX-License-Identifier: GPL-2.0-only */
/* The time, as far as a tick of the kernel's clock tells it: reading the clock costs some 40 ns. */
#ifndef CTXPROP_TICK_BPF_H
#define CTXPROP_TICK_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

/* When somebody asked first in this tick, on this CPU. */
struct tick {
	__u64 jiffies;
	__u64 ns;
};

/*
 * CLOCK_MONOTONIC some time in this tick (1 to 10 ms). Reading jiffies costs no call. Whoever
 * interrupts finds either both of the last tick, or both of this one.
 */
static __always_inline __u64 tick_ns(struct tick *t)
{
	__u64 now = bpf_jiffies64();

	if (t->jiffies != now) {
		t->ns = bpf_ktime_get_ns();
		barrier();
		t->jiffies = now;
	}
	return t->ns;
}

#endif
