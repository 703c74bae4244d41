/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What goroutines work on, published for the threads that they are at. Only where it is not
 * too dear (RUNTIME_SHOWN): it takes a probe at every change of goroutines.
 */
#ifndef CTXPROP_RUNTIMES_GO_SHOW_BPF_H
#define CTXPROP_RUNTIMES_GO_SHOW_BPF_H

#include "engine/account.h"
#include "runtimes/go/goroutine.bpf.h"

/* A goroutine runs on a thread from now on: the thread shows its request, or none. */
static __always_inline void goroutine_show(const struct worker_key *key, __u32 tid)
{
	__u64 thread = traces_ctx_key(key->tgid, tid);
	struct worker *w = worker_lookup(key);
	__u64 id = w ? worker_only(w) : 0;
	const struct request *r = request_lookup(id);

	if (w && (w->published != id || w->published_on != tid))
		worker_unpublish(w, key);
	if (r) {
		w->published = id;
		w->published_on = tid;
		traces_set(thread, request_shown(r, id));
		if (request_is_over(r, id))
			worker_unpublish(w, key);
	} else if (traces_lookup(thread)) {
		traces_unset(thread);
	}
}

/* What the current thread's goroutine works on, where goroutines are shown. */
static __always_inline void goroutine_show_current(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct worker_key key = {.tgid = id >> 32};
	const struct runtime *runtime = runtime_lookup(key.tgid);

	if (!runtime || runtime->kind != RUNTIME_GO || !(runtime->flags & RUNTIME_SHOWN))
		return;
	key.goroutine = goroutine_current(runtime);
	if (key.goroutine)
		goroutine_show(&key, (__u32)id);
}

/* A goroutine is put on a thread: may that be published? Too many a second are too dear. */
static __always_inline int runtime_shows(__u32 tgid)
{
	struct runtime *runtime = bpf_map_lookup_elem(&runtimes, &tgid);
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
		runtime_tell(tgid);
	return 0;
}

#endif
