/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the current thread goes on with is shown in traces_ctx_v1, where work changes hands on it.
 * For programs that define ENGINE_ASKS, at places behind which another one of them tells when it is
 * over.
 */
#ifndef CTXPROP_PROBES_SHOW_BPF_H
#define CTXPROP_PROBES_SHOW_BPF_H

#include "probes/work.bpf.h"

/* What is asked, of each thread: another one may take the CPU meanwhile, and ask, too. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct work_asked);
} work_shown __weak SEC(".maps");

/* The current thread goes on with nobody's work, as far as is known. */
VERIFIED_ALONE int work_hide(void)
{
	struct worker_key thread = thread_now();

	thread_ends_step(&thread);
	return 0;
}

/* It goes on with what the engine has told: it is shown with that, if that is a request. */
VERIFIED_ALONE int work_show_told(const struct work_asked *asked)
{
	struct worker_key thread = thread_now();
	struct request *r = asked ? request_lookup(asked->told.request) : NULL;
	struct traces_ctx shown;

	if (!r) {
		thread_ends_step(&thread);
		return 0;
	}
	shown = asked->told.shown;
	thread_begins_step(&thread, r, asked->told.request, &shown);
	return 0;
}

/* What the current thread is asked in; NULL: there is no memory. */
static __always_inline struct work_asked *work_shown_asked(void)
{
	return bpf_task_storage_get(&work_shown, bpf_get_current_task_btf(), NULL,
				    BPF_LOCAL_STORAGE_GET_F_CREATE);
}

#endif
