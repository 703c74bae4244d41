/* SPDX-License-Identifier: GPL-2.0-only */
/* Go: what all that speaks HTTP/2 has in common: streams that are served, and calls on streams. */
#ifndef CTXPROP_RUNTIMES_GO_STREAM_BPF_H
#define CTXPROP_RUNTIMES_GO_STREAM_BPF_H

#include "engine/stream_maps.bpf.h"
#include "probes/connection.bpf.h"
#include "probes/decide.bpf.h"
#include "engine/engine.h"
#include "runtimes/go/connection.bpf.h"
#include "runtimes/go/goroutine.bpf.h"

/* The request of a stream of the server's connection at this address; 0: none is known. */
static __always_inline __u64 stream_request(__u64 connection, __u32 stream)
{
	__u64 socket = go_connection_socket(connection);
	const struct streams *streams;
	struct flow_key key;

	if (!socket || connection_key(socket, &key))
		return 0;
	streams = http2_served_lookup(&key);
	return streams ? streams_request(streams, stream) : 0;
}

/* The goroutine serves a request from now on. */
VERIFIED_ALONE int stream_taken(const struct worker_key *by, __u64 request)
{
	struct actor a = {.kind = ACTOR_RUNTIME, .by = EVIDENCE_GOROUTINE, .runtime = RUNTIME_GO};

	if (!by)
		return 0;
	a.key = *by;
	engine_take(request, &a, bpf_ktime_get_ns());
	return 0;
}

/* What the engine says of a call that a goroutine begins now, which works on what is `named`. */
VERIFIED_ALONE int stream_decide(const struct worker_key *by, const struct named *named,
				 struct call *ret_call)
{
	struct actor a = {.kind = ACTOR_RUNTIME, .by = EVIDENCE_GOROUTINE, .runtime = RUNTIME_GO};
	struct verdict v;

	if (!by || !named || !ret_call)
		return 0;
	a.key = *by;
	a.named = named->request;
	a.doubtful = named->doubtful;
	a.own = named->own;
	v = decide_work(actor_worker(&a), actor_process(&a), &a);
	call_fill(ret_call, &v, &a, 0, 0);
	return 0;
}

#endif
