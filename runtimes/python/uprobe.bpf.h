/* SPDX-License-Identifier: GPL-2.0-only */
/* What uprobes in Python's interpreters begin with. */
#ifndef CTXPROP_RUNTIMES_PYTHON_UPROBE_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_UPROBE_BPF_H

#include "runtimes/python/greenlet.bpf.h"

/* Arguments of a C function, as x86-64 passes them. */
static __always_inline __u64 argument(const struct pt_regs *ctx, int index)
{
	return index == 0 ? ctx->rdi : index == 1 ? ctx->rsi : ctx->rdx;
}

static __always_inline __u64 returned(const struct pt_regs *ctx)
{
	return ctx->rax;
}

/*
 * The current context, or if none was entered the greenlet, or the thread. NULL: the process is not
 * one whose tasks and queues are followed.
 */
static __always_inline const struct runtime *python_current(struct worker_key *ret_key)
{
	__u64 id = bpf_get_current_pid_tgid();
	const struct runtime *runtime = runtime_lookup(id >> 32);

	*ret_key = (struct worker_key){.tgid = id >> 32};
	if (!runtime || runtime->kind != RUNTIME_PYTHON || !(runtime->flags & RUNTIME_TASKS))
		return NULL;
	ret_key->context = python_worker(runtime, ret_key->tgid);
	if (!ret_key->context)
		ret_key->tid = (__u32)id;
	return runtime;
}

#endif
