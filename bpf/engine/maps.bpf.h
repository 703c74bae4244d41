/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that tie packets, sockets and workers together. There is one of each on a node,
 * whatever the network namespace: keys and values tell namespaces apart where it matters.
 */
#ifndef CTXPROP_ENGINE_MAPS_BPF_H
#define CTXPROP_ENGINE_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "engine/model.h"
#include "engine/request_maps.bpf.h"
#include "engine/share_maps.bpf.h"
#include "engine/traces.h"
#include "engine/worker_maps.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket);
} sockets __weak SEC(".maps");

/* Read by profilers; everything about it is fixed (see engine/traces.h). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TRACES_CTX_MAX);
	__type(key, __u64);
	__type(value, struct traces_ctx);
} traces_ctx_v1 __weak SEC(".maps");

/* Where arrivals for a socket are; NULL: its inbox is lost, and so are they. */
static __always_inline struct inbox *socket_inbox(struct socket *s)
{
	return s->inbox > INBOX_OWN ? inbox_lookup(s->inbox) : &s->own;
}

static __always_inline void traces_set(__u64 key, const struct traces_ctx *shown)
{
	bpf_map_update_elem(&traces_ctx_v1, &key, shown, BPF_ANY);
}

/* The same, unless something is shown already. Returns whether it was not. */
static __always_inline int traces_add(__u64 key, const struct traces_ctx *shown)
{
	return !bpf_map_update_elem(&traces_ctx_v1, &key, shown, BPF_NOEXIST);
}

static __always_inline void traces_unset(__u64 key)
{
	bpf_map_delete_elem(&traces_ctx_v1, &key);
}

static __always_inline const struct traces_ctx *traces_lookup(__u64 key)
{
	return bpf_map_lookup_elem(&traces_ctx_v1, &key);
}

#endif
