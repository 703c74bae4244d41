/* SPDX-License-Identifier: GPL-2.0-only */
/* What uprobes in Go programs begin with. */
#ifndef CTXPROP_RUNTIMES_GO_UPROBE_BPF_H
#define CTXPROP_RUNTIMES_GO_UPROBE_BPF_H

#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/go/goroutine.bpf.h"

/* Arguments of a Go function stand in registers (since 1.17, on x86-64). */
static __always_inline __u64 first_argument(const struct pt_regs *ctx)
{
	return ctx->rax;
}

static __always_inline __u64 second_argument(const struct pt_regs *ctx)
{
	return ctx->rbx;
}

static __always_inline __u64 third_argument(const struct pt_regs *ctx)
{
	return ctx->rcx;
}

/* The current goroutine, if this is a Go program that is known. */
static __always_inline int current_goroutine(struct worker_key *ret_key,
					     const struct runtime **ret_runtime)
{
	const struct runtime *runtime;

	*ret_key = (struct worker_key){.tgid = bpf_get_current_pid_tgid() >> 32};
	runtime = runtime_lookup(ret_key->tgid);
	if (!runtime || runtime->kind != RUNTIME_GO)
		return 0;
	ret_key->context = goroutine_current(runtime);
	*ret_runtime = runtime;
	return ret_key->context != 0;
}

#endif
