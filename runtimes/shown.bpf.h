/* SPDX-License-Identifier: GPL-2.0-only */
/* Is what changes hands on a process's threads to be shown in traces_ctx_v1, and not too dear? */
#ifndef CTXPROP_RUNTIMES_SHOWN_BPF_H
#define CTXPROP_RUNTIMES_SHOWN_BPF_H

#include "runtimes/runtime.bpf.h"

/*
 * Work is put on a thread (a goroutine, a step of a task): may that be published? Too many a second
 * are too dear: then the process is given up for some time.
 */
static __always_inline int runtime_shows(__u32 tgid)
{
	struct runtime *runtime = runtime_lookup(tgid);
	__u64 second = bpf_ktime_get_ns() >> RUNTIME_CHANGES_SECOND;

	if (!runtime || !(runtime->flags & RUNTIME_SHOWN))
		return 0;
	if (runtime->second != second) {
		runtime->second = second;
		runtime->changes = 0;
	}
	if (__sync_fetch_and_add(&runtime->changes, 1) < RUNTIME_CHANGES_MAX ||
	    (runtime->flags & RUNTIME_ALWAYS))
		return 1;
	__sync_fetch_and_and(&runtime->flags, ~RUNTIME_SHOWN);
	if (!(__sync_fetch_and_or(&runtime->flags, RUNTIME_COSTLY) & RUNTIME_COSTLY))
		events_tell(tgid, RUNTIME_EVENT_LOOK);
	return 0;
}

#endif
