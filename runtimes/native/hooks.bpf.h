/* SPDX-License-Identifier: GPL-2.0-only */
/* C and the like: objects of connections when requests are read, calls begin, and answers come. */
#ifndef CTXPROP_RUNTIMES_NATIVE_HOOKS_BPF_H
#define CTXPROP_RUNTIMES_NATIVE_HOOKS_BPF_H

#include "probes/decide.bpf.h"
#include "runtimes/call.bpf.h"
#include "runtimes/native/objects.bpf.h"

/*
 * Another thread of the program than the last time reads a request, from a socket (its address)
 * that epoll watches. Where both read from the same epoll set, any of them goes on with what any
 * has read.
 */
VERIFIED_ALONE int native_loop_is_another(const struct actor *a)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct runtime_loop now = {.set = a ? turn_set(a->path) : 0, .reader = id}, was;
	__u32 tgid = id >> 32;
	struct runtime *runtime = runtime_lookup(tgid);
	struct process *p;

	if (!runtime)
		return 0;
	was = runtime->threads.loop;
	runtime->threads.loop = now;
	if (!now.set || was.set != now.set || was.reader >> 32 != tgid)
		return 0;
	p = process_lookup(&tgid);
	if (p)
		process_breaks(p, HABIT_LOOPS_APART);
	return 0;
}

/* An event loop reads the request: another thread than the last time? */
static __always_inline void native_loop_reads(const struct runtime *runtime, const struct actor *a)
{
	if (runtime->threads.loop.reader != bpf_get_current_pid_tgid())
		native_loop_is_another(a);
}

static __always_inline int native_objects_tell(const struct actor *a)
{
	return a->loop == ACTOR_LOOP;
}

/* The request is read, by a thread that no runtime moves work to. */
static __always_inline void native_request_read(struct runtime *runtime, const struct actor *by,
						__u64 id)
{
	struct process_address socket = {.tgid = by->key.tgid, .address = by->path};

	native_reads(runtime, &socket, id);
}

/* What do objects of the connection tell, and does it count? */
static __always_inline void native_call_begins(struct actor *a, struct runtime *runtime,
					       const struct sock *sk, struct socket *s)
{
	struct process_address at = {.tgid = a->key.tgid, .address = (__u64)sk};

	if (a->kind != ACTOR_THREAD)
		return;
	a->counts = native_calls(runtime, s, &at);
	if (a->counts)
		a->named = s->told;
}

/* After step_call(): objects of the program may have told something of the call. */
VERIFIED_ALONE int native_is_decided(struct socket *s, __u32 tgid)
{
	struct runtime *runtime = runtime_lookup(tgid);
	const struct call *c = s ? socket_last_call(s) : NULL;

	if (runtime && c)
		objects_decided(&runtime->threads.objects, s, c);
	return 0;
}

static __always_inline void native_call_decided(const struct actor *a, struct socket *s)
{
	if (s->told || last_call_is_unknown(s))
		native_is_decided(s, a->key.tgid);
}

#endif
