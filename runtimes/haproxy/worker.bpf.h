/* SPDX-License-Identifier: GPL-2.0-only */
/* HAProxy: the stream, or another task, that the thread runs. */
#ifndef CTXPROP_RUNTIMES_HAPROXY_WORKER_BPF_H
#define CTXPROP_RUNTIMES_HAPROXY_WORKER_BPF_H

#include "runtimes/haproxy/stream.bpf.h"
#include "runtimes/worker_kind.bpf.h"

/* The stream, or another task, that the thread runs; the thread itself if that is no help. */
static __always_inline enum runtime_worker
haproxy_who_connects(const struct runtime *runtime, struct worker_key *key, struct named *ret_named)
{
	return stream_calls(runtime, NULL, key, ret_named) ? RUNTIME_WORKER_KNOWN
							   : RUNTIME_WORKER_THREAD;
}

/* The same, for who sends on `s`. */
static __always_inline enum runtime_worker haproxy_who_calls(const struct runtime *runtime,
							     struct worker_key *key, __u64 socket,
							     const struct socket *s,
							     struct named *ret_named)
{
	return stream_calls(runtime, s, key, ret_named) ? RUNTIME_WORKER_KNOWN
							: RUNTIME_WORKER_THREAD;
}

#endif
