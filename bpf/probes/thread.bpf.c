// SPDX-License-Identifier: GPL-2.0-only
/* The life of threads and processes. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "probes/kernel.h"
#include "probes/probe.bpf.h"

SEC("tp_btf/sched_process_exit")
int BPF_PROG(probe_exit, struct task_struct *task)
{
	__u64 key = traces_ctx_key(task->tgid, task->pid);

	if (probe_is_active())
		bpf_map_delete_elem(&traces_ctx_v1, &key);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
