/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of Node: shapes of objects, connections that are opened, deferred calls. */
#ifndef CTXPROP_RUNTIMES_NODE_MAPS_BPF_H
#define CTXPROP_RUNTIMES_NODE_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/runtime.bpf.h"
#include "runtimes/node/later.h"

#define CTXPROP_SHAPES_MAX   4096
#define CTXPROP_PURPOSES_MAX 8192
#define CTXPROP_LATERS_MAX   256 /* threads of Node that leave calls for later */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_SHAPES_MAX);
	__type(key, struct process_address);
	__type(value, struct v8_shape);
} v8_shapes __weak SEC(".maps");

/* By libuv's handle: connections that Node begins to open, until it knows the address. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_PURPOSES_MAX);
	__type(key, struct process_address);
	__type(value, struct purpose);
} purposes __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_LATERS_MAX);
	__type(key, __u64); /* process and thread */
	__type(value, struct later);
} laters __weak SEC(".maps");

/* By libuv's struct uv__work: the request for which a loop has given it to other threads. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_PURPOSES_MAX);
	__type(key, struct process_address);
	__type(value, __u64);
} works __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_LATERS_MAX);
	__type(key, __u64); /* process and thread */
	__type(value, struct work);
} work_done __weak SEC(".maps");

/* Zeros: what a new entry starts from, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct later);
} blank_later __weak SEC(".maps");

static __always_inline struct v8_shape *v8_shapes_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&v8_shapes, key);
}

static __always_inline long v8_shapes_set(const struct process_address *key,
					  const struct v8_shape *now)
{
	return bpf_map_update_elem(&v8_shapes, key, now, BPF_ANY);
}

static __always_inline struct purpose *purposes_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&purposes, key);
}

static __always_inline void purposes_set(const struct process_address *key,
					 const struct purpose *now)
{
	bpf_map_update_elem(&purposes, key, now, BPF_ANY);
}

static __always_inline void purposes_delete(const struct process_address *key)
{
	bpf_map_delete_elem(&purposes, key);
}

static __always_inline struct later *laters_lookup(const __u64 *key)
{
	return bpf_map_lookup_elem(&laters, key);
}

static __always_inline void laters_set(const __u64 *key, const struct later *now)
{
	bpf_map_update_elem(&laters, key, now, BPF_ANY);
}

static __always_inline __u64 *works_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&works, key);
}

static __always_inline void works_set(const struct process_address *key, const __u64 *now)
{
	bpf_map_update_elem(&works, key, now, BPF_ANY);
}

static __always_inline void works_delete(const struct process_address *key)
{
	bpf_map_delete_elem(&works, key);
}

static __always_inline struct work *work_done_lookup(const __u64 *key)
{
	return bpf_map_lookup_elem(&work_done, key);
}

static __always_inline void work_done_set(const __u64 *key, const struct work *now)
{
	bpf_map_update_elem(&work_done, key, now, BPF_ANY);
}

static __always_inline void work_done_delete(const __u64 *key)
{
	bpf_map_delete_elem(&work_done, key);
}

static __always_inline struct later *blank_later_lookup(const __u32 *key)
{
	return bpf_map_lookup_elem(&blank_later, key);
}

#endif
