/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Transports of uvloop, an event loop for Python. libuv reads for it, in no context, and calls
 * back; and it sends what was written when the loop gets round to it, in whatever context. So what
 * was read is told in the first call back since then; and who writes is noted, by socket, until it
 * is sent.
 */
#ifndef CTXPROP_RUNTIMES_PYTHON_TRANSPORT_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_TRANSPORT_BPF_H

#include "probes/descriptor.bpf.h"
#include "runtimes/python/maps.bpf.h"
#include "runtimes/python/task.bpf.h"

#define PROTOCOL_TCP 6

/* What is written to a TCP socket next gets this number. */
static __always_inline __u32 transport_position(__u64 socket)
{
	return BPF_CORE_READ((const struct tcp_sock *)socket, write_seq);
}

/* The TCP socket of a transport; 0: it has none, or is of another kind. */
static __always_inline __u64 transport_socket(__u64 transport)
{
	__u64 handle = user_read(transport + UVLOOP_HANDLE), socket;

	if (!handle || user_read(handle) != transport ||
	    (__u32)user_read(handle + LIBUV_TYPE) != LIBUV_TCP)
		return 0;
	socket = socket_of_descriptor((__u32)user_read(handle + LIBUV_DESCRIPTOR));
	if (!socket || BPF_CORE_READ((const struct sock *)socket, sk_protocol) != PROTOCOL_TCP)
		return 0;
	return socket;
}

/* Does a transport have this object as its protocol? */
static __always_inline int transport_has(__u64 transport, __u64 protocol)
{
	for (int i = 0; i < UVLOOP_TRANSPORT_WORDS; i++)
		if (user_read(transport + UVLOOP_HANDLE + i * sizeof(__u64)) == protocol)
			return 1;
	return 0;
}

/*
 * The TCP socket of an object's transport: among the first words of a protocol is the transport
 * that has this protocol. 0: it is none, or keeps that elsewhere.
 */
VERIFIED_ALONE __u64 transport_of_protocol(__u64 protocol)
{
	for (int i = 0; i < UVLOOP_PROTOCOL_WORDS; i++) {
		__u64 transport = user_read(protocol + (2 + i) * sizeof(__u64));
		__u64 socket = transport < ADDRESSES_FROM ? 0 : transport_socket(transport);

		if (socket && transport_has(transport, protocol))
			return socket;
	}
	return 0;
}

/* Who has written what is sent now; NULL: nobody that is known. */
static __always_inline const struct written *transport_writer(__u32 tgid, __u64 socket)
{
	const struct written *noted = written_lookup(&socket);

	if (!noted || noted->by.tgid != tgid || noted->shared ||
	    noted->position != transport_position(socket))
		return NULL;
	return noted;
}

#endif
