/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of HAProxy: streams. */
#ifndef CTXPROP_RUNTIMES_HAPROXY_MAPS_BPF_H
#define CTXPROP_RUNTIMES_HAPROXY_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/runtime.bpf.h"

#define CTXPROP_STREAMS_MAX 16384

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_STREAMS_MAX);
	__type(key, struct worker_key);
	__type(value, struct stream);
} streams __weak SEC(".maps");

static __always_inline struct stream *streams_lookup(const struct worker_key *key)
{
	return bpf_map_lookup_elem(&streams, key);
}

static __always_inline void streams_set(const struct worker_key *key, const struct stream *now)
{
	bpf_map_update_elem(&streams, key, now, BPF_ANY);
}

static __always_inline void streams_delete(const struct worker_key *key)
{
	bpf_map_delete_elem(&streams, key);
}

#endif
