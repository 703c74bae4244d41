/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps that more than one runtime uses: what processes run, and what is known of them. */
#ifndef CTXPROP_RUNTIMES_MAPS_BPF_H
#define CTXPROP_RUNTIMES_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/runtime.h"

#define CTXPROP_RUNTIMES_MAX   8192 /* processes that have taken a request, or may soon */
#define CTXPROP_STARTS_MAX     4096
#define CTXPROP_OBJECTS_MAX    8192
#define CTXPROP_ARGUMENTS_MAX  8192
#define CTXPROP_GOROUTINES_MAX 8192

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_RUNTIMES_MAX);
	__type(key, __u32);
	__type(value, struct runtime);
} runtimes __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_STARTS_MAX);
	__type(key, struct process_address);
	__type(value, struct start);
} starts __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_OBJECTS_MAX);
	__type(key, struct process_address);
	__type(value, struct object);
} objects __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_ARGUMENTS_MAX);
	__type(key, struct process_address);
	__type(value, struct argument);
} arguments __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_GOROUTINES_MAX);
	__type(key, struct worker_key);
	__type(value, struct goroutine);
} goroutines __weak SEC(".maps");

static __always_inline struct runtime *runtime_lookup(__u32 tgid)
{
	return bpf_map_lookup_elem(&runtimes, &tgid);
}

/* What a process runs is put down, if nothing is yet. Returns 0, or less: that was not done. */
static __always_inline long runtime_add(__u32 tgid, const struct runtime *runtime)
{
	return bpf_map_update_elem(&runtimes, &tgid, runtime, BPF_NOEXIST);
}

static __always_inline void runtime_set(__u32 tgid, const struct runtime *runtime)
{
	bpf_map_update_elem(&runtimes, &tgid, runtime, BPF_ANY);
}

/* Returns 0, or less: nothing was known. */
static __always_inline long runtime_delete(__u32 tgid)
{
	return bpf_map_delete_elem(&runtimes, &tgid);
}

static __always_inline struct start *start_lookup(__u32 tgid, __u64 address)
{
	struct process_address at = {.tgid = tgid, .address = address};

	return bpf_map_lookup_elem(&starts, &at);
}

/* What is known first of a start, unless another CPU has been quicker. */
static __always_inline void start_add(__u32 tgid, __u64 address, const struct start *first)
{
	struct process_address at = {.tgid = tgid, .address = address};

	bpf_map_update_elem(&starts, &at, first, BPF_NOEXIST);
}

static __always_inline void start_delete(const struct process_address *at)
{
	bpf_map_delete_elem(&starts, at);
}

static __always_inline struct object *object_lookup(const struct process_address *at)
{
	return bpf_map_lookup_elem(&objects, at);
}

static __always_inline void object_set(const struct process_address *at, const struct object *now)
{
	bpf_map_update_elem(&objects, at, now, BPF_ANY);
}

static __always_inline void object_delete(const struct process_address *at)
{
	bpf_map_delete_elem(&objects, at);
}

static __always_inline struct argument *argument_lookup(const struct process_address *at)
{
	return bpf_map_lookup_elem(&arguments, at);
}

static __always_inline void argument_set(const struct process_address *at,
					 const struct argument *now)
{
	bpf_map_update_elem(&arguments, at, now, BPF_ANY);
}

static __always_inline struct goroutine *goroutine_lookup(const struct worker_key *key)
{
	return bpf_map_lookup_elem(&goroutines, key);
}

static __always_inline void goroutine_set(const struct worker_key *key, const struct goroutine *now)
{
	bpf_map_update_elem(&goroutines, key, now, BPF_ANY);
}

static __always_inline void goroutine_delete(const struct worker_key *key)
{
	bpf_map_delete_elem(&goroutines, key);
}

#endif
