/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is at work on the current thread, where runtimes move work between threads. */
#ifndef CTXPROP_RUNTIMES_WORKER_BPF_H
#define CTXPROP_RUNTIMES_WORKER_BPF_H

#include "runtimes/answer.bpf.h"
#include "runtimes/go/worker.bpf.h"
#include "runtimes/haproxy/worker.bpf.h"
#include "runtimes/java/worker.bpf.h"
#include "runtimes/python/worker.bpf.h"
#include "runtimes/ruby/worker.bpf.h"
#include "runtimes/traits.h"

/*
 * Who is at work in a process of which is not known what it runs? That cannot be told, unless it
 * reads no requests: then it may have been made for one, and works for that whatever it runs. So
 * does one that was made for a connection.
 */
static __always_inline enum runtime_worker runtime_unknown(__u32 tgid)
{
	const struct process *p = process_lookup(&tgid);

	if ((p && p->served && !p->given) || goroutine_is_likely())
		return RUNTIME_WORKER_UNKNOWN;
	return RUNTIME_WORKER_THREAD;
}

/* What works in the current thread's process `tgid`. */
static __always_inline enum runtime_worker runtime_works_by(const struct runtime *runtime,
							    __u32 tgid)
{
	__u32 kind = runtime_kind(runtime);

	if (runtime_works_by_threads(kind))
		return RUNTIME_WORKER_THREAD;
	if (runtime_works_by_others(kind))
		return RUNTIME_WORKER_KNOWN;
	return runtime_hides_work(kind) ? RUNTIME_WORKER_UNKNOWN : runtime_unknown(tgid);
}

/*
 * Who is at work on the thread that `key` names, in a process of this runtime (NULL: not known)?
 * For RUNTIME_WORKER_KNOWN the key is changed to its own. Who sends should ask hook_who_calls().
 */
static __always_inline enum runtime_worker hook_who_works(const struct runtime *runtime,
							  struct worker_key *key)
{
	ANSWER(who_works, runtime_kind(runtime), runtime, key);
	return runtime_works_by(runtime, key->tgid);
}

/* As hook_who_calls(), for who connects. */
static __always_inline enum runtime_worker
hook_who_connects(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	*ret_named = (struct named){};
	ANSWER(who_connects, runtime_kind(runtime), runtime, key, ret_named);
	return runtime_works_by(runtime, key->tgid);
}

/*
 * As hook_who_works(), for who sends on socket `s` at this address: to be asked once for each
 * call that begins. `ret_named` is the request that the runtime names for it; for
 * RUNTIME_WORKER_KNOWN no other rule applies.
 */
static __always_inline enum runtime_worker hook_who_calls(const struct runtime *runtime,
							  struct worker_key *key, __u64 socket,
							  const struct socket *s,
							  struct named *ret_named)
{
	*ret_named = (struct named){};
	ANSWER(who_calls, runtime_kind(runtime), runtime, key, socket, s, ret_named);
	return runtime_works_by(runtime, key->tgid);
}

#endif
