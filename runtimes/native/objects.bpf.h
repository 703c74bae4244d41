/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For which request does an event loop in C or the like make a call? The object that it has of the
 * connection leads to the one of the connection that the request has come on, within a few steps:
 * that of the nearest request is meant. What counts of that is in runtimes/native/objects.h.
 */
#ifndef CTXPROP_RUNTIMES_NATIVE_OBJECTS_BPF_H
#define CTXPROP_RUNTIMES_NATIVE_OBJECTS_BPF_H

#include "engine/account.h"
#include "runtimes/native/objects.h"
#include "runtimes/native/hand.bpf.h"
#include "runtimes/native/search.bpf.h"

/*
 * What objects of a connection tell of a call that the current thread begins, or whose answer it
 * reads. `shape`: only what is found by such a way counts; 0: all. `last`: what it has read last;
 * 0: that does not matter.
 */
static __always_inline void native_tells(struct runtime_objects *o,
					 const struct process_address *socket, __u32 shape,
					 __u64 last, struct objects_told *ret)
{
	struct native_search *search = native_begin(o, socket);

	__builtin_memset(ret, 0, sizeof(*ret));
	if (!search)
		return;
	native_hand(search, &o->calling_at);
	if (search->end == 1)
		ret->from = search->queue[0].object;
	ret->request = native_search(search, shape);
	ret->by = search->found.by;
	ret->shape = search->found.shape;
	if (last && ret->request == last)
		ret->only = native_is_only(search);
}

/*
 * Another connection's last call is over (`o->idle`): does its object, if it still is that, lead to
 * no request any more, though that of this call is open?
 */
static __always_inline int native_is_cleared(const struct runtime_objects *o,
					     const struct process_address *socket)
{
	const struct objects_idle *idle = &o->idle;
	struct native_search *search;

	if (!object_request(socket->tgid, idle->by) ||
	    (__u32)user_read(idle->object + o->calling_at - 1) != idle->descriptor ||
	    socket_of_descriptor(idle->descriptor) != idle->socket)
		return 0;
	search = native_begin(o, socket);
	if (!search)
		return 0;
	native_push(search, idle->object, 0);
	return native_search(search, idle->shape) == OBJECTS_NO_REQUEST;
}

/* Something else happens, on this socket: what has become of the connection that was idle? */
VERIFIED_ALONE int native_ends_idle(struct runtime *runtime, const struct process_address *socket)
{
	struct runtime_objects *o;

	if (!runtime || !socket)
		return 0;
	o = &runtime->threads.objects;
	if (o->idle.socket && o->idle.socket != socket->address &&
	    o->cleared < habit_rules[HABIT_OBJECTS_CLEAR].least && native_is_cleared(o, socket))
		objects_clear(o);
	o->idle.socket = 0;
	return 0;
}

/*
 * A request is taken up by the current thread, of the connection with this socket of the kernel's.
 * (While it is not known yet what the process runs, too: what is learnt then is lost, but not
 * this.)
 */
VERIFIED_ALONE int native_reads(struct runtime *runtime, const struct process_address *socket,
				__u64 request)
{
	struct native_search *search;
	struct runtime_objects *o;
	struct request *r;

	if (!runtime || !socket || !objects_are_read(&runtime->threads.objects))
		return 0;
	o = &runtime->threads.objects;
	r = request_lookup(request);
	if (!r)
		return 0;
	native_ends_idle(runtime, socket);
	search = native_begin(o, socket);
	if (!search)
		return 0;
	native_hand(search, &o->serving_at);
	if (search->end &&
	    object_is_read(search->tgid, search->queue[0].object, request, search->descriptor))
		request_has_object(r, request);
	return 0;
}

/* What the current thread has read last. */
static __always_inline __u64 native_last(void)
{
	__u64 now = bpf_get_current_pid_tgid();
	struct worker_key thread = {.tgid = now >> 32, .tid = (__u32)now};
	const struct worker *w = worker_lookup(&thread);

	return w ? w->read : 0;
}

/* Does it do so without having had any request from an object, or with several at once? */
static __always_inline int native_is_blind(const struct runtime_objects *o, const struct socket *s)
{
	return !o->serving_at || (s->flags & SOCKET_SHARED) || !objects_are_wanted(o);
}

/* A call begins on `s`, the kernel's `socket`. Returns whether what is told (s->told) counts. */
VERIFIED_ALONE int native_calls(struct runtime *runtime, struct socket *s,
				const struct process_address *socket)
{
	__u32 tgid = socket ? socket->tgid : 0;
	struct runtime_objects *o;
	struct objects_told told;

	if (!runtime || !s || !socket)
		return 0;
	o = &runtime->threads.objects;
	o->reads = 0;
	s->told = 0;
	if (native_is_blind(o, s))
		return 0;
	native_ends_idle(runtime, socket);
	native_tells(o, socket, 0, native_last(), &told);
	return objects_note(o, s, process_lookup(&tgid), &told);
}

/* The answer to a call of which something was told is read from `s`, the kernel's `socket`. */
VERIFIED_ALONE int native_answers(struct socket *s, const struct process_address *socket)
{
	struct runtime *runtime = socket ? runtime_lookup(socket->tgid) : NULL;
	__u64 then = s ? s->told : 0;
	struct runtime_objects *o;
	struct objects_told now;

	if (!runtime || !s || !socket || !then)
		return 0;
	o = &runtime->threads.objects;
	s->told = 0;
	if (native_is_blind(o, s))
		return 0;
	native_tells(o, socket, then == OBJECTS_NO_REQUEST ? 0 : s->told_shape, 0, &now);
	objects_learn(o, s, then, &now);
	if (now.request == then)
		objects_idle(o, &now, socket->address,
			     syscall_argument(bpf_get_current_task_btf()));
	return 0;
}

#endif
