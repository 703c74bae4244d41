/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The published layout of the thread context map, as a profiler that has never seen ctxprop would
 * write it down (OTEP 4855): who works on what, by thread. Nothing here comes from ctxprop.
 */
#ifndef PROFILE_TRACES_CTX_H
#define PROFILE_TRACES_CTX_H

#include <linux/types.h>

#define TRACES_CTX_PIN "/sys/fs/bpf/otel/traces_ctx_v1"
#define TRACES_CTX_MAX 16384

/* Key: u64, tgid << 32 | tid, ids of the initial pid namespace. Value, in wire order: */
struct traces_ctx {
	__u8 trace_id[16];
	__u8 span_id[8];
};
_Static_assert(sizeof(struct traces_ctx) == 24, "published layout");

/* One sample, from the BPF program to the sampler. */
struct sample {
	__u64 ns; /* CLOCK_MONOTONIC */
	__u32 tgid;
	__u32 tid;
	__u64 ip;                  /* where it was interrupted: in user space, or in the kernel */
	struct traces_ctx context; /* all zero: the map had no entry */
};

#endif
