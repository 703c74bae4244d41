/* SPDX-License-Identifier: GPL-2.0-only */
/* Java: the virtual thread that runs, and whose request a thread works on. */
#ifndef CTXPROP_RUNTIMES_JAVA_WORKER_BPF_H
#define CTXPROP_RUNTIMES_JAVA_WORKER_BPF_H

#include "runtimes/java/client.bpf.h"
#include "runtimes/java/frame.bpf.h"
#include "runtimes/java/future.bpf.h"
#include "runtimes/java/maps.bpf.h"
#include "runtimes/java/task.bpf.h"
#include "runtimes/worker_kind.bpf.h"

/* Put the virtual thread of Java that runs into `key`, which names the current thread. */
static __always_inline enum runtime_worker java_who_works(const struct runtime *runtime,
							  struct worker_key *key)
{
	const struct runtime_java *java = &runtime->java;
	__u64 object;

	if (!java->virtual_object)
		return RUNTIME_WORKER_THREAD;
	object = java_virtual_object(java, java_thread_of(java, user_thread_pointer()));
	if (!object)
		return RUNTIME_WORKER_THREAD;
	return java_virtual_key(java, object, key) ? RUNTIME_WORKER_KNOWN : RUNTIME_WORKER_UNKNOWN;
}

/*
 * As java_who_works(), with the request that it has, or that of who waits for it. A thread
 * that reads from sockets which do not block (of Tomcat, of Jetty) may hand over what it has read,
 * and do something else for another request: what it has read says nothing, unless its stack does.
 * `sends`: or is it about to connect?
 */
static __always_inline enum runtime_worker java_awaited(const struct runtime *runtime,
							struct worker_key *key, int sends,
							struct named *ret_named)
{
	struct worker_key thread = *key;
	enum runtime_worker who = java_who_works(runtime, key), own = RUNTIME_WORKER_KNOWN;
	const struct worker *w = worker_lookup(key);
	int unsure = who == RUNTIME_WORKER_THREAD && w && java_is_unsure(w), others = 0;

	if (who == RUNTIME_WORKER_THREAD && w && java_may_hand_over(w))
		ret_named->request = java_request_of(w);
	if (!ret_named->request || !java_is_at(key->tgid, ret_named->request)) {
		ret_named->request = w && !unsure ? worker_only(w) : 0;
		own = who;
	}
	if (ret_named->request && java_client_may_be_others(key->tgid, sends)) {
		ret_named->doubtful = DOUBT_ALL;
		return RUNTIME_WORKER_KNOWN;
	}
	if (ret_named->request)
		return own;
	if (sends)
		others = java_client_sends(key->tgid, ret_named);
	if (!others)
		java_works_on(key->tgid, ret_named);
	if (ret_named->request && java_is_at(key->tgid, ret_named->request)) {
		*key = thread;
		return RUNTIME_WORKER_KNOWN;
	}
	ret_named->request = 0;
	if (!others && who == RUNTIME_WORKER_THREAD && java_task_of(key->tgid, ret_named))
		return RUNTIME_WORKER_KNOWN;
	return who == RUNTIME_WORKER_THREAD && !unsure ? who : RUNTIME_WORKER_UNKNOWN;
}

static __always_inline enum runtime_worker
java_who_connects(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	return java_awaited(runtime, key, 0, ret_named);
}

static __always_inline enum runtime_worker java_who_calls(const struct runtime *runtime,
							  struct worker_key *key, __u64 socket,
							  const struct socket *s,
							  struct named *ret_named)
{
	return java_awaited(runtime, key, 1, ret_named);
}

/*
 * The current thread of Java wakes one that waits for events, the selector of java.net.http's
 * client maybe: does it begin a call, in send()? Then what it works on is noted for who sends it.
 */
VERIFIED_ALONE int java_begins(__u32 tgid)
{
	struct worker_key key = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	struct process_address at = {.tgid = tgid};
	const struct runtime *runtime = runtime_lookup(tgid);
	struct java_begun begun = {};

	if (!runtime)
		return 0;
	at.address = java_client_call(tgid, JAVA_CALL_BEGUN);
	if (!at.address)
		return 0;
	begun.thread = java_thread_of(&runtime->java, user_thread_pointer());
	java_awaited(runtime, &key, 0, &begun.named);
	begun.named.doubtful |= !begun.named.request;
	begun.collections = user_read_narrow(runtime->java.collections);
	java_begun_set(&at, &begun);
	return 0;
}

#endif
