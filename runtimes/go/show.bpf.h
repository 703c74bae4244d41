/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What goroutines work on, published for the threads that they are at. Only where it is not
 * too dear (RUNTIME_SHOWN): it takes a probe at every change of goroutines.
 */
#ifndef CTXPROP_RUNTIMES_GO_SHOW_BPF_H
#define CTXPROP_RUNTIMES_GO_SHOW_BPF_H

#include "engine/account.h"
#include "runtimes/go/goroutine.bpf.h"
#include "runtimes/shown.bpf.h"

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

/*
 * A goroutine has read from a connection that it serves: its thread shows what it works on. (Of
 * what net/http's watcher of the connection reads, the goroutine that it serves reads the rest.)
 */
static __always_inline void go_read_shown(const struct runtime *runtime,
					  const struct worker_key *thread)
{
	struct worker_key key = {.tgid = thread->tgid};

	if (!(runtime->flags & RUNTIME_SHOWN))
		return;
	key.context = goroutine_current(runtime);
	if (key.context)
		goroutine_show(&key, thread->tid);
}

#endif
