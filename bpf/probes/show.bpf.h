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

static __always_inline struct worker_key thread_now(void)
{
	__u64 id = bpf_get_current_pid_tgid();

	return (struct worker_key){.tgid = id >> 32, .tid = (__u32)id};
}

/* The current thread goes on with nobody's work, as far as is known. */
VERIFIED_ALONE int work_hide(void)
{
	struct worker_key thread = thread_now();

	thread_ends_step(&thread);
	return 0;
}

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

#define WORKER_ANY (~0ULL)

/*
 * The current thread goes on with something, and is shown with the request to which a call would
 * belong that it began now; with none if that is the work of another one than `worker` (as in
 * struct worker_key.goroutine). To be called by the program itself, as work_ask().
 */
static __always_inline void work_show(__u64 worker)
{
	struct work_asked *asked = bpf_task_storage_get(&work_shown, bpf_get_current_task_btf(),
							NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (!asked)
		return;
	if (work_begin(asked) && (worker == WORKER_ANY || asked->by.key.goroutine == worker))
		work_decide(asked);
	work_show_told(asked);
}

#endif
