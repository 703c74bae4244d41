// SPDX-License-Identifier: GPL-2.0-only
/* HAProxy: a stream begins. Attached to programs that take requests. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/haproxy/stream.bpf.h"

/* flt_stream_start(stream), which every new stream goes through in the task that makes it. */
SEC("uprobe")
int probe_stream_begins(struct pt_regs *ctx)
{
	const struct runtime *runtime;
	struct worker_key thread;

	stream_reader(&thread);
	runtime = runtime_lookup(thread.tgid);
	if (runtime && runtime->kind == RUNTIME_HAPROXY)
		stream_begins(runtime, &thread, ctx->rdi);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
