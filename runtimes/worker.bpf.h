/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is at work on the current thread, where runtimes move work between threads. */
#ifndef CTXPROP_RUNTIMES_WORKER_BPF_H
#define CTXPROP_RUNTIMES_WORKER_BPF_H

#include "runtimes/go/worker.bpf.h"
#include "runtimes/haproxy/worker.bpf.h"
#include "runtimes/java/worker.bpf.h"
#include "runtimes/python/worker.bpf.h"
#include "runtimes/ruby/worker.bpf.h"

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

/* What the current thread's process `tgid` runs. */
static __always_inline enum runtime_worker runtime_kind(const struct runtime *runtime, __u32 tgid)
{
	if (runtime && (runtime->kind == RUNTIME_THREADS || runtime->kind == RUNTIME_PYTHON ||
			runtime->kind == RUNTIME_HAPROXY || runtime->kind == RUNTIME_RUBY ||
			runtime->kind == RUNTIME_NODE || runtime->kind == RUNTIME_JAVA ||
			runtime->kind == RUNTIME_UNSEEN))
		return RUNTIME_WORKER_THREAD;
	if (runtime && runtime->kind == RUNTIME_GO)
		return RUNTIME_WORKER_KNOWN;
	if (runtime && runtime->kind == RUNTIME_OPAQUE)
		return RUNTIME_WORKER_UNKNOWN;
	return runtime_unknown(tgid);
}

/*
 * Who is at work on the thread that `key` names, in a process of this runtime (NULL: not known)?
 * For RUNTIME_WORKER_KNOWN the key is changed to its own. Who sends should ask runtime_sender().
 */
static __always_inline enum runtime_worker runtime_worker(const struct runtime *runtime,
							  struct worker_key *key)
{
	enum runtime_worker who = runtime_kind(runtime, key->tgid);

	if (runtime_has_tasks(runtime))
		return runtime_python(runtime, key);
	if (runtime && runtime->kind == RUNTIME_JAVA)
		return runtime_virtual(runtime, key);
	return runtime && who == RUNTIME_WORKER_KNOWN ? runtime_goroutine(runtime, key) : who;
}

/* As runtime_sender(), for who connects. */
static __always_inline enum runtime_worker
runtime_connector(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	enum runtime_worker who;

	*ret_named = (struct named){};
	if (runtime_has_tasks(runtime))
		return runtime_task(runtime, key, ret_named);
	if (runtime_has_streams(runtime))
		return runtime_stream(runtime, NULL, key, ret_named);
	if (runtime_holds_objects(runtime))
		return runtime_holder(runtime, key, ret_named);
	if (runtime && runtime->kind == RUNTIME_JAVA)
		return runtime_awaited(runtime, key, 0, ret_named);
	who = runtime_worker(runtime, key);
	if (who == RUNTIME_WORKER_KNOWN)
		*ret_named = goroutine_request(key);
	return who;
}

/*
 * As runtime_worker(), for who sends on socket `s` at this address: to be asked once for each
 * call that begins. `ret_named` is the request that the runtime names for it; for
 * RUNTIME_WORKER_KNOWN no other rule applies.
 */
static __always_inline enum runtime_worker runtime_sender(const struct runtime *runtime,
							  struct worker_key *key, __u64 socket,
							  const struct socket *s,
							  struct named *ret_named)
{
	enum runtime_worker who;

	*ret_named = (struct named){};
	if (runtime_has_tasks(runtime))
		return runtime_transport(runtime, key, socket, ret_named);
	if (runtime_has_streams(runtime))
		return runtime_stream(runtime, s, key, ret_named);
	if (runtime_holds_objects(runtime))
		return runtime_holder(runtime, key, ret_named);
	if (runtime && runtime->kind == RUNTIME_JAVA)
		return runtime_awaited(runtime, key, 1, ret_named);
	who = runtime_worker(runtime, key);
	if (who != RUNTIME_WORKER_KNOWN)
		return who;
	return runtime_goroutine_sends(key, socket, ret_named);
}

#endif
