/* SPDX-License-Identifier: GPL-2.0-only */
/* HAProxy: the stream, or another task, that the thread runs. */
#ifndef CTXPROP_RUNTIMES_HAPROXY_WORKER_BPF_H
#define CTXPROP_RUNTIMES_HAPROXY_WORKER_BPF_H

#include "runtimes/haproxy/stream.bpf.h"
#include "runtimes/worker_kind.bpf.h"

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

#endif
