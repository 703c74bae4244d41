/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that tie packets, sockets and workers together. There is one of each on a node,
 * whatever the network namespace: keys and values tell namespaces apart where it matters.
 */
#ifndef CTXPROP_CONTEXT_MAPS_BPF_H
#define CTXPROP_CONTEXT_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "context/model.h"

/* Requests that are not over yet. When it is full, new ones are not followed. */
#define CTXPROP_REQUESTS_MAX 65536

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_REQUESTS_MAX);
	__type(key, __u64);
	__type(value, struct request);
} requests __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket);
} sockets __weak SEC(".maps");

static __always_inline struct request *request_lookup(__u64 id)
{
	return id ? bpf_map_lookup_elem(&requests, &id) : NULL;
}

#endif
