// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a CPU profiler does at sample time: look up the interrupted thread in the pinned map. And
 * what one does that tells what threads wait for: look up the thread that goes off its CPU.
 */
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

/* A sample of the current thread. */
static __always_inline void tell(__u64 thread, __u64 ip, const struct traces_ctx *context)
{
	struct sample sample = {
	    .ns = bpf_ktime_get_ns(), .tgid = thread >> 32, .tid = (__u32)thread, .ip = ip};

	if (context)
		sample.context = *context;
	if (bpf_ringbuf_output(&samples, &sample, sizeof(sample), 0))
		__sync_fetch_and_add(&lost, 1);
}

SEC("perf_event")
int profile_sample(struct bpf_perf_event_data *ctx)
{
	__u64 thread = bpf_get_current_pid_tgid();

	if (thread) /* else the CPU is idle */
		tell(thread, ctx->regs.rip, bpf_map_lookup_elem(&traces_ctx_v1, &thread));
	return 0;
}

SEC("raw_tp/sched_switch")
int profile_switch(void *ctx)
{
	__u64 thread = bpf_get_current_pid_tgid();
	const struct traces_ctx *context = bpf_map_lookup_elem(&traces_ctx_v1, &thread);

	if (context)
		tell(thread, 0, context);
	return 0;
}

char _license[] SEC("license") = "GPL";
