/* SPDX-License-Identifier: GPL-2.0-only */
/* Putting down who uses a socket: a few stores, for the cost is paid at each event. */
#ifndef CTXPROP_PROBES_RECORD_BPF_H
#define CTXPROP_PROBES_RECORD_BPF_H

#include <bpf/bpf_helpers.h>
#include "engine/record.h"
#include "probes/kernel.bpf.h"

/* This thread is the one. */
static __always_inline void record_thread(struct record_thread *who, const struct task_struct *task)
{
	who->tgid = task->tgid;
	who->tid = task->pid;
}

/* Does another thread of the program write than the one that reads? */
static __always_inline int record_is_left(const struct record *r)
{
	return r->writer.tgid == r->reader.tgid && r->writer.tid != r->reader.tid;
}

/* The connection begins to be of interest, by the doing of the current thread. */
static __always_inline void record_begin(struct record *r)
{
	if (r->since_ns)
		return;
	r->since_ns = bpf_ktime_get_ns();
	r->cgroup = bpf_get_current_cgroup_id();
}

#endif
