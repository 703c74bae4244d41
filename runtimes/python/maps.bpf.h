/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of Python: tasks, queues, transports, greenlets. */
#ifndef CTXPROP_RUNTIMES_PYTHON_MAPS_BPF_H
#define CTXPROP_RUNTIMES_PYTHON_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/runtime.bpf.h"

#define CTXPROP_TASKS_MAX   8192
#define CTXPROP_WRITTEN_MAX 8192 /* sockets */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_TASKS_MAX);
	__type(key, struct worker_key);
	__type(value, struct task);
} tasks __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_TASKS_MAX);
	__type(key, struct process_address);
	__type(value, struct queued);
} queued __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_TASKS_MAX);
	__type(key, struct worker_key);
	__type(value, struct python_taken);
} python_taken __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_WRITTEN_MAX);
	__type(key, __u64);
	__type(value, struct written);
} written __weak SEC(".maps");

static __always_inline struct task *tasks_lookup(const struct worker_key *key)
{
	return bpf_map_lookup_elem(&tasks, key);
}

static __always_inline void tasks_set(const struct worker_key *key, const struct task *now)
{
	bpf_map_update_elem(&tasks, key, now, BPF_ANY);
}

static __always_inline void tasks_delete(const struct worker_key *key)
{
	bpf_map_delete_elem(&tasks, key);
}

static __always_inline struct queued *queued_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&queued, key);
}

static __always_inline void queued_set(const struct process_address *key, const struct queued *now)
{
	bpf_map_update_elem(&queued, key, now, BPF_ANY);
}

static __always_inline struct python_taken *python_taken_lookup(const struct worker_key *key)
{
	return bpf_map_lookup_elem(&python_taken, key);
}

static __always_inline void python_taken_set(const struct worker_key *key,
					     const struct python_taken *now)
{
	bpf_map_update_elem(&python_taken, key, now, BPF_ANY);
}

static __always_inline struct written *written_lookup(const __u64 *key)
{
	return bpf_map_lookup_elem(&written, key);
}

static __always_inline void written_set(const __u64 *key, const struct written *now)
{
	bpf_map_update_elem(&written, key, now, BPF_ANY);
}

#endif
