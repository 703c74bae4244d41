/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From what JavaScript has of a connection to the kernel's socket, and back. Node's object for it
 * (a TCPWrap) has libuv's handle in itself, and knows the one of JavaScript, which knows it.
 */
#ifndef CTXPROP_RUNTIMES_NODE_SOCKET_BPF_H
#define CTXPROP_RUNTIMES_NODE_SOCKET_BPF_H

#include "probes/descriptor.bpf.h"
#include "probes/object.bpf.h"
#include "probes/syscall.bpf.h"
#include "runtimes/node/v8_shape.bpf.h"

/* Bytes from the beginning. */
enum node_offset {
	NODE_WRAP_SLOT = 8,    /* of Node's object: to where the address of JavaScript's stands */
	NODE_OBJECT_WRAP = 32, /* of JavaScript's object: to Node's (BaseObject::kSlot) */
	NODE_OBJECT_WRAP_SINCE_24 = 40,
	UV_HANDLE_DATA = 0, /* of libuv's handle: Node's object */
	UV_STREAM_FD = 184, /* of a stream, since libuv 1.0 */
};

#define NODE_WRAP_MAX    1024 /* bytes from the beginning of Node's object to the handle in it */
#define NODE_STACK_PARTS 16

/* Node's object for the handle of libuv's that is at this address, if that is one of a connection
 * with this descriptor; else 0. */
static __always_inline __u64 node_wrap_of(__u64 handle, __u32 descriptor)
{
	__u64 wrap;

	if ((__u32)user_read(handle + UV_STREAM_FD) != descriptor)
		return 0;
	wrap = user_read(handle + UV_HANDLE_DATA);
	return handle - wrap < NODE_WRAP_MAX ? wrap : 0;
}

/* libuv's handle and Node's object of a connection. */
struct node_handle {
	__u64 handle;
	__u64 wrap;   /* 0: not found */
	__u64 object; /* JavaScript's */
	__u32 slot;   /* byte of that where Node's stands */
	__u32 reserved;
	__u64 stack[USER_CHUNK]; /* where it is looked for; there is no room on the probe's own */
};

/* Find JavaScript's object for Node's. Returns whether there is one. */
static __always_inline int node_find_object(struct node_handle *handle)
{
	handle->object = user_read(user_read(handle->wrap + NODE_WRAP_SLOT));
	handle->slot = NODE_OBJECT_WRAP;
	if (v8_word(handle->object, handle->slot) == handle->wrap)
		return 1;
	handle->slot = NODE_OBJECT_WRAP_SINCE_24;
	return v8_word(handle->object, handle->slot) == handle->wrap;
}

/* Is this the address of the handle, or of the descriptor in it? */
static __always_inline int node_is_handle(__u64 word, __u32 descriptor, struct node_handle *ret)
{
	if (word < V8_ADDRESSES_MIN || word % V8_WORD)
		return 0;
	ret->handle = (__u32)user_read(word) == descriptor ? word - UV_STREAM_FD : word;
	ret->wrap = node_wrap_of(ret->handle, descriptor);
	return ret->wrap && node_find_object(ret);
}

/*
 * Find the handle of a descriptor that the current thread writes to: functions of libuv have it in
 * a register, or have it saved on the stack.
 */
VERIFIED_ALONE int node_find_handle(__u32 descriptor, struct node_handle *ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct pt_regs___x86 *regs = (const void *)bpf_task_pt_regs(task);
	__u64 at = syscall_stack(task);

	if (!ret || !bpf_core_field_exists(regs->orig_ax))
		return 0;
	for (int i = 0; i < SYSCALL_SAVED; i++)
		if (node_is_handle(syscall_saved(regs, i), descriptor, ret))
			return 1;
#pragma clang loop unroll(disable)
	for (int i = 0; i < NODE_STACK_PARTS; i++) {
		if (!user_chunk(&at, ~0ULL, ret->stack))
			return 0;
		for (int j = 0; j < USER_CHUNK; j++)
			if (node_is_handle(ret->stack[j], descriptor, ret))
				return 1;
	}
	return 0;
}

/* Look for libuv's handle in Node's object, which its data is. Returns whether it is there. */
static __always_inline int node_find_within(struct node_handle *handle)
{
	__u64 at = handle->wrap;

#pragma clang loop unroll(disable)
	for (int i = 0; i < NODE_WRAP_MAX / (USER_CHUNK * V8_WORD); i++) {
		if (!user_chunk(&at, ~0ULL, handle->stack))
			return 0;
		for (int j = 0; j < USER_CHUNK; j++) {
			if (handle->stack[j] != handle->wrap)
				continue;
			handle->handle = at - (USER_CHUNK - j) * V8_WORD;
			if (socket_of_descriptor(user_read(handle->handle + UV_STREAM_FD)))
				return 1;
		}
	}
	return 0;
}

/*
 * Find how JavaScript's object of a connection leads to libuv's handle. Returns whether it does.
 */
VERIFIED_ALONE int node_find_alike(struct node_handle *ret, __u64 object)
{
	if (!ret)
		return 0;
	for (__u32 slot = NODE_OBJECT_WRAP; slot <= NODE_OBJECT_WRAP_SINCE_24; slot += V8_WORD) {
		ret->slot = slot;
		ret->wrap = v8_word(object, slot);
		if (ret->wrap > V8_ADDRESSES_MIN && !(ret->wrap % V8_WORD) && node_find_within(ret))
			return 1;
	}
	ret->wrap = 0;
	return 0;
}

/*
 * The open request of a connection, whose handle in JavaScript this is; 0: none, or several.
 * `alike`: that of any connection of the process; without a `wrap`: it is found out by this one.
 */
VERIFIED_ALONE __u64 node_request_of_handle(__u32 tgid, struct node_handle *alike, __u64 object)
{
	__u64 wrap, handle, socket;

	if (!alike)
		return 0;
	/* (Of a call it is known; there is no room on the stack to find it out.) */
	if (!ENGINE_LEARNS && !alike->wrap && !node_find_alike(alike, object))
		return 0;
	wrap = v8_word(object, alike->slot);
	handle = wrap + (alike->handle - alike->wrap);
	if (!wrap || user_read(handle + UV_HANDLE_DATA) != wrap)
		return 0;
	socket = socket_of_descriptor(user_read(handle + UV_STREAM_FD));
	return socket ? object_request(tgid, socket) : 0;
}

/*
 * The open request that this object of JavaScript is, or the response to it; 0: it is none. A
 * connection that is kept has them one after the other: it has the response that is its turn, and
 * that has its request.
 */
static __always_inline __u64 node_request_of(struct v8_look *look, struct node_handle *alike,
					     __u64 object)
{
	__u64 socket = v8_property(look, object, V8_SOCKET), message;

	if (!v8_is_object(socket))
		return 0;
	message = v8_property(look, socket, V8_MESSAGE);
	if (!v8_is_object(message) ||
	    (message != object && v8_property(look, message, V8_REQ) != object))
		return 0;
	return node_request_of_handle(look->tgid, alike, v8_property(look, socket, V8_HANDLE));
}

#endif
