/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is at work on the current thread, where runtimes move work between threads. */
#ifndef CTXPROP_PROBES_RUNTIME_BPF_H
#define CTXPROP_PROBES_RUNTIME_BPF_H

#include "probes/goroutine.bpf.h"
#include "probes/greenlet.bpf.h"
#include "probes/stream.bpf.h"
#include "probes/python_frame.bpf.h"
#include "probes/task_thread.bpf.h"
#include "probes/java_client.bpf.h"
#include "probes/java_frame.bpf.h"
#include "probes/java_future.bpf.h"
#include "probes/ruby_queue.bpf.h"
#include "probes/transport.bpf.h"

enum runtime_worker {
	RUNTIME_WORKER_THREAD,  /* the thread itself: all rules apply */
	RUNTIME_WORKER_KNOWN,   /* the key was changed to the one at work */
	RUNTIME_WORKER_UNKNOWN, /* something else than the thread, but not known what */
};

/* Another goroutine does a part of this one's work: net/http watches a connection it serves. */
static __always_inline void runtime_served(struct worker_key *key)
{
	const struct goroutine *goroutine = bpf_map_lookup_elem(&goroutines, key);

	if (goroutine && goroutine->serves)
		key->goroutine = goroutine->serves;
}

/*
 * Who is at work in a process of which is not known what it runs? That cannot be told, unless it
 * reads no requests: then it may have been made for one, and works for that whatever it runs.
 */
static __always_inline enum runtime_worker runtime_unknown(__u32 tgid)
{
	const struct process *p = process_lookup(&tgid);

	if ((p && p->served) || goroutine_is_likely())
		return RUNTIME_WORKER_UNKNOWN;
	return RUNTIME_WORKER_THREAD;
}

/* What the current thread's process `tgid` runs. */
static __always_inline enum runtime_worker runtime_kind(const struct runtime *runtime, __u32 tgid)
{
	if (runtime && (runtime->kind == RUNTIME_THREADS || runtime->kind == RUNTIME_PYTHON ||
			runtime->kind == RUNTIME_HAPROXY || runtime->kind == RUNTIME_RUBY ||
			runtime->kind == RUNTIME_NODE || runtime->kind == RUNTIME_JAVA ||
			runtime->kind == RUNTIME_TOKIO))
		return RUNTIME_WORKER_THREAD;
	if (runtime && runtime->kind == RUNTIME_GO)
		return RUNTIME_WORKER_KNOWN;
	if (runtime && runtime->kind == RUNTIME_OPAQUE)
		return RUNTIME_WORKER_UNKNOWN;
	return runtime_unknown(tgid);
}

/* Put the goroutine that runs into `key`, which names the current thread. */
static __always_inline enum runtime_worker runtime_goroutine(const struct runtime *runtime,
							     struct worker_key *key)
{
	__u64 g = goroutine_current(runtime);

	if (!g)
		return RUNTIME_WORKER_UNKNOWN;
	key->tid = 0;
	key->goroutine = g;
	runtime_served(key);
	return RUNTIME_WORKER_KNOWN;
}

static __always_inline int runtime_has_tasks(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_PYTHON && (runtime->flags & RUNTIME_TASKS);
}

static __always_inline int runtime_holds_objects(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_RUBY;
}

/* Put an object that is at work, if there is one, into `key`, which names the current thread. */
static __always_inline enum runtime_worker runtime_object(struct worker_key *key, __u64 object)
{
	if (!object)
		return RUNTIME_WORKER_THREAD;
	key->tid = 0;
	key->goroutine = object;
	return RUNTIME_WORKER_KNOWN;
}

/* Python: the context that has been entered, or the greenlet, or the thread. */
static __always_inline enum runtime_worker runtime_python(const struct runtime *runtime,
							  struct worker_key *key)
{
	return runtime_object(key, python_worker(runtime, key->tgid));
}

/* Put the virtual thread of Java that runs into `key`, which names the current thread. */
static __always_inline enum runtime_worker runtime_virtual(const struct runtime *runtime,
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

/* HAProxy: the stream, or another task, that the thread runs; the thread itself if that is no help.
 */
static __always_inline enum runtime_worker runtime_stream(const struct runtime *runtime,
							  const struct socket *s,
							  struct worker_key *key,
							  struct named *ret_named)
{
	return stream_calls(runtime, s, key, ret_named) ? RUNTIME_WORKER_KNOWN
							: RUNTIME_WORKER_THREAD;
}

static __always_inline int runtime_has_streams(const struct runtime *runtime)
{
	return runtime && runtime->kind == RUNTIME_HAPROXY;
}

/* Has the thread a request of its own, or out of a queue, whatever context it has entered since? */
static __always_inline int runtime_thread_serves(const struct worker_key *thread)
{
	const struct worker *w = worker_lookup(thread);

	return w && !w->turn.item && (worker_only(w) || w->inherited_by == EVIDENCE_TASK);
}

/* What it took out of a queue counts only while it has that. */
static __always_inline void runtime_thread_holds(const struct worker_key *thread)
{
	const struct worker *w = worker_lookup(thread);

	if (w && w->queue && w->inherited && !worker_only(w))
		python_holds(thread->tgid);
}

/* Is known of a thread where it gets its work: does it read requests, was it made for one? */
static __always_inline int runtime_thread_is_known(const struct worker_key *thread)
{
	const struct worker *w = worker_lookup(thread);

	return w && (w->taken || w->turn.item || w->made_for || w->queue);
}

/* As runtime_worker() for Python, with the request of the context, of a greenlet, or of a task that
 * waits. */
static __always_inline enum runtime_worker
runtime_task(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	struct worker_key thread = *key;
	enum runtime_worker who = runtime_object(key, task_current(runtime));
	__u64 greenlet;

	if (who == RUNTIME_WORKER_KNOWN)
		*ret_named = task_calls(runtime, key);
	if (ret_named->request)
		return who;
	greenlet = runtime->python.greenlets ? greenlet_calls(thread.tgid, ret_named) : 0;
	if (greenlet)
		return runtime_object(key, greenlet);
	runtime_thread_holds(&thread);
	if (runtime_thread_serves(&thread)) {
		*key = thread;
		return RUNTIME_WORKER_THREAD;
	}
	*ret_named = task_thread_request(runtime, thread.tgid);
	if (!ret_named->request && who == RUNTIME_WORKER_THREAD &&
	    !runtime_thread_is_known(&thread))
		ret_named->request = python_serves(thread.tgid);
	return ret_named->request ? RUNTIME_WORKER_KNOWN : who;
}

/* As runtime_task(), for who sends on a socket: of uvloop's it is who has written. */
static __always_inline enum runtime_worker runtime_transport(const struct runtime *runtime,
							     struct worker_key *key, __u64 socket,
							     struct named *ret_named)
{
	const struct written *written = NULL;
	struct task *task;

	if (runtime->flags & RUNTIME_TRANSPORTS)
		written = transport_writer(key->tgid, socket);
	if (!written)
		return runtime_task(runtime, key, ret_named);
	*key = written->by;
	*ret_named = written->named;
	task = task_lookup(runtime, key);
	if (task && task->made_ns == written->made_ns)
		task->flags |= TASK_CALLED;
	return RUNTIME_WORKER_KNOWN;
}

/* A response is sent: by the current context, or by that which has written it. */
static __always_inline void runtime_task_responds(const struct runtime *runtime, __u32 tgid,
						  __u64 request, __u64 socket)
{
	struct worker_key key = {.tgid = tgid, .goroutine = task_current(runtime)};
	const struct written *written;

	if (!(runtime->flags & RUNTIME_TRANSPORTS)) {
		task_responds(tgid, task_is_for(runtime, &key, request), request);
		return;
	}
	written = transport_writer(tgid, socket);
	if (!written)
		return;
	key = written->by;
	task_is_for(runtime, &key, request);
	task_responds(tgid, written->request, request);
}

/*
 * As runtime_worker() for Ruby, with the request that the thread works on. What it took out of a
 * queue counts only while it has that.
 */
static __always_inline enum runtime_worker
runtime_holder(const struct runtime *runtime, const struct worker_key *key, struct named *ret_named)
{
	__u64 context = ruby_context(runtime), held = ruby_calls(key->tgid, context);

	*ret_named = ruby_works_on(key->tgid, held);
	ret_named->doubtful |= ruby_doubts_own(key->tgid, held);
	if (ret_named->request)
		return RUNTIME_WORKER_KNOWN;
	ruby_keeps(key->tgid, context);
	return RUNTIME_WORKER_THREAD;
}

/*
 * As runtime_worker() for Java, with the request that it has, or that of who waits for it. A thread
 * that reads from sockets which do not block (of Tomcat, of Jetty) may hand over what it has read,
 * and do something else for another request: what it has read says nothing, unless its stack does.
 * `sends`: or is it about to connect?
 */
static __always_inline enum runtime_worker runtime_awaited(const struct runtime *runtime,
							   struct worker_key *key, int sends,
							   struct named *ret_named)
{
	struct worker_key thread = *key;
	enum runtime_worker who = runtime_virtual(runtime, key), own = RUNTIME_WORKER_KNOWN;
	const struct worker *w = worker_lookup(key);
	int unsure = who == RUNTIME_WORKER_THREAD && w && java_is_unsure(w);

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
	if (!sends || !java_client_sends(key->tgid, ret_named))
		java_works_on(key->tgid, ret_named);
	if (ret_named->request && java_is_at(key->tgid, ret_named->request)) {
		*key = thread;
		return RUNTIME_WORKER_KNOWN;
	}
	ret_named->request = 0;
	return who == RUNTIME_WORKER_THREAD && !unsure ? who : RUNTIME_WORKER_UNKNOWN;
}

/*
 * The current thread of Java wakes one that waits for events, the selector of java.net.http's
 * client maybe: does it begin a call, in send()? Then what it works on is noted for who sends it.
 */
VERIFIED_ALONE int runtime_begins(__u32 tgid)
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
	runtime_awaited(runtime, &key, 0, &begun.named);
	begun.named.doubtful |= !begun.named.request;
	begun.collections = user_read_narrow(runtime->java.collections);
	bpf_map_update_elem(&java_begun, &at, &begun, BPF_ANY);
	return 0;
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

/* The writer of a connection that was there before the process was looked at shows itself. */
static __always_inline __u64 runtime_learn_writer(const struct worker_key *key, __u64 socket)
{
	const struct go_socket *found = bpf_map_lookup_elem(&go_sockets, &socket);
	struct goroutine writer = {};
	struct process_address at = {.tgid = key->tgid};
	struct round_trip *trip;

	if (!found || found->tgid != key->tgid)
		return 0;
	writer.connection = found->connection;
	at.address = found->connection;
	bpf_map_delete_elem(&go_sockets, &socket);
	trip = bpf_map_lookup_elem(&round_trips, &at);
	if (!trip)
		return 0;
	trip->writer = key->goroutine;
	bpf_map_update_elem(&goroutines, key, &writer, BPF_ANY);
	return writer.connection;
}

/* net/http's client writes from a goroutine of the connection what another one has handed it. */
static __always_inline enum runtime_worker
runtime_round_trip(struct worker_key *key, __u64 connection, struct named *ret_named)
{
	struct process_address at = {.tgid = key->tgid, .address = connection};
	struct round_trip *trip = bpf_map_lookup_elem(&round_trips, &at);

	if (!trip || !trip->goroutine)
		return RUNTIME_WORKER_UNKNOWN;
	key->goroutine = trip->goroutine;
	*ret_named = trip->named;
	trip->goroutine = 0;
	return RUNTIME_WORKER_KNOWN;
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
	const struct goroutine *goroutine;
	enum runtime_worker who;
	__u64 connection;

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
	goroutine = bpf_map_lookup_elem(&goroutines, key);
	connection = goroutine ? goroutine->connection : 0;
	if (!connection)
		connection = runtime_learn_writer(key, socket);
	if (connection)
		return runtime_round_trip(key, connection, ret_named);
	*ret_named = goroutine_calls(key);
	return who;
}

#endif
