/* SPDX-License-Identifier: GPL-2.0-only */
/* Beside stage 4: why a request of HTTP/2 is sent. Its runtime has told that for its stream. */
#ifndef CTXPROP_TC_STREAM_BPF_H
#define CTXPROP_TC_STREAM_BPF_H

#include "38-cause.bpf.h"
#include "engine/stream_maps.bpf.h"

/* A socket speaks HTTP/2: it gets the cookie now by which probes tell of its streams. */
static __always_inline void stream_socket_begins(struct __sk_buff *skb)
{
	bpf_get_socket_cookie(skb);
}

/* Leave in scratch.call what is known about the call on a stream of the sending socket. */
VERIFIED_ALONE int stream_cause(struct __sk_buff *skb, __u32 stream)
{
	struct stream_key key = {.cookie = bpf_get_socket_cookie(skb), .stream = stream};
	struct scratch *s = scratch_get();
	const struct call *call;

	if (!s)
		return 0;
	__builtin_memset(&s->call, 0, sizeof(s->call));
	call = key.cookie ? http2_calls_lookup(&key) : NULL;
	if (!call)
		return 0;
	s->call = *call;
	http2_calls_delete(&key);
	return 0;
}

#endif
