/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What goroutines work on, published for the threads that they are at. Only where it is asked for
 * (RUNTIME_SHOWN): it takes a probe at every change of goroutines.
 */
#ifndef CTXPROP_PROBES_GOROUTINE_SHOW_BPF_H
#define CTXPROP_PROBES_GOROUTINE_SHOW_BPF_H

#include "context/account.h"
#include "probes/goroutine.bpf.h"

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
		traces_set(thread, (const struct traces_ctx *)&r->context);
	} else if (traces_lookup(thread)) {
		traces_unset(thread);
	}
}

/* A goroutine, at which the current thread is, has read a request. */
static __always_inline int goroutine_is_shown(const struct worker_key *key)
{
	const struct runtime *runtime = runtime_lookup(key->tgid);

	return runtime && (runtime->flags & RUNTIME_SHOWN) &&
	       goroutine_current(runtime) == key->goroutine;
}

#endif
