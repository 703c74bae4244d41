/* SPDX-License-Identifier: GPL-2.0-only */
/* Ruby: the request that a thread works on. */
#ifndef CTXPROP_RUNTIMES_RUBY_WORKER_BPF_H
#define CTXPROP_RUNTIMES_RUBY_WORKER_BPF_H

#include "runtimes/ruby/queue.bpf.h"
#include "runtimes/worker_kind.bpf.h"

static __always_inline int runtime_holds_objects(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_RUBY;
}

/* The request that the thread works on. What it took out of a queue counts only while it has that.
 */
static __always_inline enum runtime_worker
ruby_who_connects(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	__u64 context = ruby_context(runtime), held = ruby_calls(key->tgid, context);

	*ret_named = ruby_works_on(key->tgid, held);
	ret_named->doubtful |= ruby_doubts_own(key->tgid, held);
	if (ret_named->request)
		return RUNTIME_WORKER_KNOWN;
	ruby_keeps(key->tgid, context);
	return RUNTIME_WORKER_THREAD;
}

static __always_inline enum runtime_worker ruby_who_calls(const struct runtime *runtime,
							  struct worker_key *key, __u64 socket,
							  const struct socket *s,
							  struct named *ret_named)
{
	return ruby_who_connects(runtime, key, ret_named);
}

#endif
