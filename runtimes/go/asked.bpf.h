/* SPDX-License-Identifier: GPL-2.0-only */
/* Go: goroutines of which nothing is known when a thread is asked for whom it works. */
#ifndef CTXPROP_RUNTIMES_GO_ASKED_BPF_H
#define CTXPROP_RUNTIMES_GO_ASKED_BPF_H

#include "engine/model.h"
#include "runtimes/go/memory.bpf.h"
#include "runtimes/runtime.bpf.h"

/*
 * Requests are open, and nothing is known of the one at work: it may have been handed that in a way
 * that is not watched yet.
 */
VERIFIED_ALONE int go_is_not_known(__u32 veto)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;
	struct runtime *runtime;

	if (veto != VETO_NO_EVIDENCE)
		return 0;
	runtime = runtime_lookup(tgid);
	if (runtime && !(runtime->flags & RUNTIME_POOLS) && goroutine_runs_itself(runtime))
		runtime_suspects_pool_at_work(runtime, tgid);
	return 0;
}

static __always_inline void go_work_decided(const struct actor *a, __u8 veto)
{
	go_is_not_known(veto);
}

#endif
