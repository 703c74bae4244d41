// SPDX-License-Identifier: GPL-2.0-only
/* What a CPU profiler does at sample time: look up the interrupted thread in the pinned map. */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>
#include <bpf/bpf_helpers.h>
#include "traces_ctx.h"

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TRACES_CTX_MAX);
	__type(key, __u64);
	__type(value, struct traces_ctx);
} traces_ctx_v1 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} samples SEC(".maps");

__u64 lost; /* samples that found no room in the ring */

SEC("perf_event")
int profile_sample(struct bpf_perf_event_data *ctx)
{
	__u64 thread = bpf_get_current_pid_tgid();
	const struct traces_ctx *context;
	struct sample sample = {};

	if (!thread)
		return 0; /* the CPU is idle */
	sample.ns = bpf_ktime_get_ns();
	sample.tgid = thread >> 32;
	sample.tid = (__u32)thread;
	sample.ip = ctx->regs.rip;
	context = bpf_map_lookup_elem(&traces_ctx_v1, &thread);
	if (context)
		sample.context = *context;
	if (bpf_ringbuf_output(&samples, &sample, sizeof(sample), 0))
		__sync_fetch_and_add(&lost, 1);
	return 0;
}

char _license[] SEC("license") = "GPL";
