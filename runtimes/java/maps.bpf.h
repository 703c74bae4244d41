/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of Java: threads that read and hand over, calls that they begin. */
#ifndef CTXPROP_RUNTIMES_JAVA_MAPS_BPF_H
#define CTXPROP_RUNTIMES_JAVA_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/runtime.bpf.h"

#define CTXPROP_JAVAS_MAX 128  /* processes of Java that take requests */
#define CTXPROP_HELD_MAX  4096 /* threads of Java that do so from sockets that do not block */
#define CTXPROP_BEGUN_MAX 4096 /* calls that threads of Java have begun */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_JAVAS_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct java_readers);
} java_readers __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_HELD_MAX);
	__type(key, struct process_address);
	__type(value, struct java_held);
} java_held __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_BEGUN_MAX);
	__type(key, struct process_address);
	__type(value, struct java_begun);
} java_begun __weak SEC(".maps");

/* Zeros: what a new entry starts from, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct java_readers);
} blank_readers __weak SEC(".maps");

static __always_inline struct java_readers *java_readers_lookup(const __u32 *key)
{
	return bpf_map_lookup_elem(&java_readers, key);
}

/* Unless it is there. */
static __always_inline void java_readers_add(const __u32 *key, const struct java_readers *first)
{
	bpf_map_update_elem(&java_readers, key, first, BPF_NOEXIST);
}

static __always_inline struct java_held *java_held_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&java_held, key);
}

/* Unless it is there. */
static __always_inline void java_held_add(const struct process_address *key,
					  const struct java_held *first)
{
	bpf_map_update_elem(&java_held, key, first, BPF_NOEXIST);
}

static __always_inline struct java_begun *java_begun_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&java_begun, key);
}

static __always_inline void java_begun_set(const struct process_address *key,
					   const struct java_begun *now)
{
	bpf_map_update_elem(&java_begun, key, now, BPF_ANY);
}

static __always_inline struct java_readers *blank_readers_lookup(const __u32 *key)
{
	return bpf_map_lookup_elem(&blank_readers, key);
}

#endif
