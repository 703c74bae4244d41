/* SPDX-License-Identifier: GPL-2.0-only */
/* What stands in the memory of the current process. */
#ifndef CTXPROP_PROBES_USER_BPF_H
#define CTXPROP_PROBES_USER_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include "probes/kernel.bpf.h"

/* Eight bytes; 0 if they cannot be read. */
static __always_inline __u64 user_read(__u64 address)
{
	__u64 value = 0;

	bpf_probe_read_user(&value, sizeof(value), (const void *)address);
	return value;
}

/* Of the current thread; 0 where it is not known how to get it. */
static __always_inline __u64 user_thread_pointer(void)
{
	const struct task_struct *task = (const void *)bpf_get_current_task();

	if (!bpf_core_field_exists(task->thread.fsbase))
		return 0;
	return BPF_CORE_READ(task, thread.fsbase);
}

#endif
