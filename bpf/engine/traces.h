/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The map `traces_ctx_v1`: what each thread works on, for profilers that look at sample time
 * (OTEP 4855). Its layout, size and place are a contract with programs of others:
 * LRU hash, 16384 entries, flags 0, pinned at /sys/fs/bpf/otel/traces_ctx_v1.
 */
#ifndef CTXPROP_ENGINE_TRACES_H
#define CTXPROP_ENGINE_TRACES_H

#include <linux/types.h>

#define TRACES_CTX_MAX 16384

/* Both ids as traceparent has them. A thread that works on no request has no entry. */
struct traces_ctx {
	__u8 trace_id[16] __attribute__((aligned(8)));
	__u8 span_id[8];
};
_Static_assert(sizeof(struct traces_ctx) == 24, "traces_ctx is read by others");

/* The span as the key of a request. */
static inline __u64 traces_ctx_span(const struct traces_ctx *shown)
{
	__u64 id;

	__builtin_memcpy(&id, shown->span_id, sizeof(id));
	return id;
}

/* The key of a thread; ids of the initial pid namespace. */
static __always_inline __u64 traces_ctx_key(__u32 tgid, __u32 tid)
{
	return (__u64)tgid << 32 | tid;
}

#endif
