/* SPDX-License-Identifier: GPL-2.0-only */
/* HTTP/2: what packet programs and probes know of the streams of a connection. */
#ifndef CTXPROP_ENGINE_STREAM_MAPS_BPF_H
#define CTXPROP_ENGINE_STREAM_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "abi.h"
#include "compat.bpf.h"
#include "streams.h"

/* Calls whose heads are on their way from a program to the packets. */
#define CTXPROP_HTTP2_CALLS_MAX 1024

/* Connections of local servers, as our side sends on them, with `ctxpropd --http2`. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_HTTP2_MAX);
	__type(key, struct flow_key);
	__type(value, struct streams);
} http2_served __weak SEC(".maps");

/* For which requests the calls of a program are that runs several streams on a connection. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_HTTP2_CALLS_MAX);
	__type(key, struct stream_key);
	__type(value, struct call);
} http2_calls __weak SEC(".maps");

/* `key`: on the stack or in a map (before 6.4 it must be). */
static __always_inline struct streams *http2_served_lookup(const struct flow_key *key)
{
	return bpf_map_lookup_elem(&http2_served, key);
}

static __always_inline struct call *http2_calls_lookup(const struct stream_key *key)
{
	return bpf_map_lookup_elem(&http2_calls, key);
}

static __always_inline void http2_calls_set(const struct stream_key *key, const struct call *call)
{
	bpf_map_update_elem(&http2_calls, key, call, BPF_ANY);
}

static __always_inline void http2_calls_delete(const struct stream_key *key)
{
	bpf_map_delete_elem(&http2_calls, key);
}

#endif
