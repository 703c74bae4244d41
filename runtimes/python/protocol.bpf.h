/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Servers on asyncio have two objects for each connection. The transport reads, and calls a method
 * of the protocol, which makes a task for the request. One that comes before the last one's task is
 * quite done waits: its task is made by a method of the protocol, too, but one that this last task
 * has called (uvicorn, where the response has an end of its own, as behind Starlette's
 * BaseHTTPMiddleware). So it is noted which protocol has which transport.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_PROTOCOL_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_PROTOCOL_BPF_H

#include "runtimes/python/frame.bpf.h"
#include "runtimes/python/transport.bpf.h"

/* Functions around the one that makes a task, as far as the transport; a power of 2. */
#define PROTOCOL_FRAMES 4

/* The objects whose methods these are, the innermost first; 0: it is none's. */
struct protocol_methods {
	__u64 of[PROTOCOL_FRAMES];
};

static __always_inline void protocol_look(const struct runtime *runtime,
					  struct protocol_methods *ret_methods)
{
	const struct runtime_frames *frames = &runtime->python.frames;
	__u64 frame = python_innermost(runtime);

	for (int i = 0; i < PROTOCOL_FRAMES; i++) {
		frame = frame ? user_read(frame + frames->before) : 0;
		ret_methods->of[i] = 0;
		if (frame && !python_is_of_c(frames, frame))
			ret_methods->of[i] = user_read(frame + frames->locals);
	}
}

static __always_inline const struct object *protocol_object(__u32 tgid, __u64 address,
							    enum object_item item)
{
	struct process_address at = {.tgid = tgid, .address = address};
	const struct object *object;

	object = address < ADDRESSES_FROM ? NULL : object_lookup(&at);
	return object && object->item == item ? object : NULL;
}

/* The open request that a transport has read last; 0: none. */
static __always_inline __u64 protocol_read(__u32 tgid, __u64 transport)
{
	const struct object *object = protocol_object(tgid, transport, OBJECT_CONNECTION);

	if (!object || object->shared || request_standing(object->request) == STANDING_NONE)
		return 0;
	return object->request;
}

/* An object is the protocol of a transport, unless two of these have requests at a time. */
static __always_inline void protocol_is_of(__u32 tgid, __u64 protocol, __u64 transport)
{
	struct process_address at = {.tgid = tgid, .address = protocol};
	struct object now = {
	    .request = transport, .item = OBJECT_PROTOCOL, .tid = (__u32)python_type(protocol)};
	const struct object *old = protocol_object(tgid, protocol, OBJECT_PROTOCOL);

	if (old && old->tid == now.tid && old->request != transport)
		now.shared = old->shared || protocol_read(tgid, old->request);
	object_set(&at, &now);
}

/* The socket that the current thread has read last, in this turn of its loop; 0: none is known. */
static __always_inline __u64 protocol_socket(__u32 tgid)
{
	struct worker_key thread = {.tgid = tgid, .tid = (__u32)bpf_get_current_pid_tgid()};
	const struct worker *w = worker_lookup(&thread);
	__u64 item = w && turn_surely_goes_on(&w->turn) ? w->turn.item : 0;
	const struct file *file = item ? KERNEL_FIELD(struct epitem, item, ffd.file) : NULL;
	const struct socket___kernel *socket = file ? BPF_CORE_READ(file, private_data) : NULL;

	return socket ? (__u64)BPF_CORE_READ(socket, sk) : 0;
}

/* Who has read a request by uvloop makes a task for it: the innermost method tells. */
VERIFIED_ALONE int protocol_note_socket(__u32 tgid, __u64 protocol, __u64 request)
{
	__u64 socket = protocol_socket(tgid);

	if (socket && protocol >= ADDRESSES_FROM && protocol_read(tgid, socket) == request)
		protocol_is_of(tgid, protocol, socket);
	return 0;
}

/* Who has read a request makes a task for it. */
VERIFIED_ALONE int protocol_note(__u32 tgid, __u64 request)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct protocol_methods methods;
	int transport = 0;

	if (!runtime)
		return 0;
	protocol_look(runtime, &methods);
	for (int i = PROTOCOL_FRAMES - 1; i > 0; i--)
		if (protocol_read(tgid, methods.of[i]) == request)
			transport = i;
	if (!transport && (runtime->flags & RUNTIME_TRANSPORTS))
		protocol_note_socket(tgid, methods.of[0], request);
	for (int i = 0; i < PROTOCOL_FRAMES; i++)
		if (i < transport && methods.of[i] >= ADDRESSES_FROM)
			protocol_is_of(tgid, methods.of[i],
				       methods.of[transport & (PROTOCOL_FRAMES - 1)]);
	return 0;
}

/* Functions from the innermost one on that may be the protocol's. */
#define PROTOCOL_MAKER_FRAMES 2

/*
 * Of uvloop: the socket of the protocol in whose method the current thread is; 0: it is in none.
 * (uvloop makes tasks in no function of Python's.)
 */
static __always_inline __u64 protocol_maker_socket(const struct runtime *runtime)
{
	const struct runtime_frames *frames = &runtime->python.frames;
	__u64 frame = python_innermost(runtime), self, socket = 0;

	for (int i = 0; i < PROTOCOL_MAKER_FRAMES && frame && !socket; i++) {
		self = python_is_of_c(frames, frame) ? 0 : user_read(frame + frames->locals);
		socket = self < ADDRESSES_FROM ? 0 : transport_of_protocol(self);
		frame = user_read(frame + frames->before);
	}
	return socket;
}

/* The request that was read last from this transport, if no task was made for it; 0: none. */
static __always_inline __u64 protocol_waiting(__u32 tgid, __u64 transport)
{
	const struct request *r = request_lookup(protocol_read(tgid, transport));

	return r && !(r->flags & REQUEST_GIVEN) ? r->id : 0;
}

/*
 * A task is made by one that has no request any more. For which request, of which no task was made
 * yet? 0: none.
 */
VERIFIED_ALONE __u64 protocol_request(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	struct protocol_methods methods;
	__u64 socket;

	if (!runtime)
		return 0;
	socket = runtime->flags & RUNTIME_TRANSPORTS ? protocol_maker_socket(runtime) : 0;
	if (socket)
		return protocol_waiting(tgid, socket);
	protocol_look(runtime, &methods);
	for (int i = 0; i < PROTOCOL_FRAMES; i++) {
		const struct object *object = protocol_object(tgid, methods.of[i], OBJECT_PROTOCOL);

		if (!object || object->shared || object->tid != (__u32)python_type(methods.of[i]))
			continue;
		return protocol_waiting(tgid, object->request);
	}
	return 0;
}

#define BUFFER_FRAMES 2 /* functions around the one that sets a future's result, at most */

/*
 * A future gets its result in a method of the object that a request was read from, of which nobody
 * was told yet: what had been read before is taken out of a buffer. 0: no such request.
 */
VERIFIED_ALONE __u64 protocol_takes(__u32 tgid)
{
	const struct runtime *runtime = runtime_lookup(tgid);
	const struct request *r = NULL;
	__u64 frame;

	if (!runtime)
		return 0;
	frame = python_innermost(runtime);
	for (int i = 0; i < BUFFER_FRAMES && frame && !r; i++) {
		if (!python_is_of_c(&runtime->python.frames, frame))
			r = request_lookup(
			    protocol_read(tgid, user_read(frame + runtime->python.frames.locals)));
		frame = user_read(frame + runtime->python.frames.before);
	}
	return r && !(r->flags & (REQUEST_GIVEN | REQUEST_WOKE)) ? r->id : 0;
}

#endif
