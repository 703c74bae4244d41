/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of Ruby: threads and queues. */
#ifndef CTXPROP_RUNTIMES_RUBY_MAPS_BPF_H
#define CTXPROP_RUNTIMES_RUBY_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/runtime.bpf.h"

#define CTXPROP_RUBY_MAX 4096 /* threads of Ruby */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_RUBY_MAX);
	__type(key, struct process_address);
	__type(value, struct ruby_thread);
} ruby_threads __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_OBJECTS_MAX);
	__type(key, struct process_address);
	__type(value, struct ruby_queue);
} ruby_queues __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_OBJECTS_MAX);
	__type(key, struct ruby_place);
	__type(value, struct ruby_item);
} ruby_places __weak SEC(".maps");

/* Zeros: what a new entry starts from, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ruby_thread);
} blank_ruby_thread __weak SEC(".maps");

static __always_inline struct ruby_thread *ruby_threads_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&ruby_threads, key);
}

/* Unless it is there. */
static __always_inline void ruby_threads_add(const struct process_address *key,
					     const struct ruby_thread *first)
{
	bpf_map_update_elem(&ruby_threads, key, first, BPF_NOEXIST);
}

static __always_inline struct ruby_queue *ruby_queues_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&ruby_queues, key);
}

/* Unless it is there. */
static __always_inline void ruby_queues_add(const struct process_address *key,
					    const struct ruby_queue *first)
{
	bpf_map_update_elem(&ruby_queues, key, first, BPF_NOEXIST);
}

static __always_inline struct ruby_item *ruby_places_lookup(const struct ruby_place *key)
{
	return bpf_map_lookup_elem(&ruby_places, key);
}

static __always_inline void ruby_places_set(const struct ruby_place *key,
					    const struct ruby_item *now)
{
	bpf_map_update_elem(&ruby_places, key, now, BPF_ANY);
}

static __always_inline void ruby_places_delete(const struct ruby_place *key)
{
	bpf_map_delete_elem(&ruby_places, key);
}

static __always_inline struct ruby_thread *blank_ruby_thread_lookup(const __u32 *key)
{
	return bpf_map_lookup_elem(&blank_ruby_thread, key);
}

#endif
