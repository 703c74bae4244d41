/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of Go: calls of net/http, channels. */
#ifndef CTXPROP_RUNTIMES_GO_MAPS_BPF_H
#define CTXPROP_RUNTIMES_GO_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "engine/model.h"
#include "runtimes/runtime.bpf.h"

#define CTXPROP_MESSAGES_MAX   8192
#define CTXPROP_GO_SOCKETS_MAX 4096
#define CTXPROP_GO_HEADS_MAX   1024

/* What is known of a call of grpc-go. */
struct go_head {
	struct call call;
	__u64 head; /* of the entry of a goroutine: the head that it has handed over; 0: none yet */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_GOROUTINES_MAX);
	__type(key, struct process_address);
	__type(value, struct round_trip);
} round_trips __weak SEC(".maps");

/* By the address of a place in the buffer of a channel: for which request its message was sent. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_MESSAGES_MAX);
	__type(key, struct process_address);
	__type(value, struct named);
} messages __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_GO_SOCKETS_MAX);
	__type(key, __u64);
	__type(value, struct go_socket);
} go_sockets __weak SEC(".maps");

/*
 * Of grpc-go, by the address of a goroutine: the call that it has begun last; by that of a head:
 * the call that it is for, until it is written.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_GO_HEADS_MAX);
	__type(key, struct process_address);
	__type(value, struct go_head);
} go_heads __weak SEC(".maps");

static __always_inline struct round_trip *round_trips_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&round_trips, key);
}

static __always_inline void round_trips_set(const struct process_address *key,
					    const struct round_trip *now)
{
	bpf_map_update_elem(&round_trips, key, now, BPF_ANY);
}

/* Unless it is there. */
static __always_inline void round_trips_add(const struct process_address *key,
					    const struct round_trip *first)
{
	bpf_map_update_elem(&round_trips, key, first, BPF_NOEXIST);
}

static __always_inline struct named *messages_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&messages, key);
}

static __always_inline void messages_set(const struct process_address *key, const struct named *now)
{
	bpf_map_update_elem(&messages, key, now, BPF_ANY);
}

static __always_inline struct go_socket *go_sockets_lookup(const __u64 *key)
{
	return bpf_map_lookup_elem(&go_sockets, key);
}

static __always_inline void go_sockets_set(const __u64 *key, const struct go_socket *now)
{
	bpf_map_update_elem(&go_sockets, key, now, BPF_ANY);
}

static __always_inline void go_sockets_delete(const __u64 *key)
{
	bpf_map_delete_elem(&go_sockets, key);
}

static __always_inline struct go_head *go_heads_lookup(const struct process_address *key)
{
	return bpf_map_lookup_elem(&go_heads, key);
}

static __always_inline void go_heads_set(const struct process_address *key,
					 const struct go_head *now)
{
	bpf_map_update_elem(&go_heads, key, now, BPF_ANY);
}

static __always_inline void go_heads_delete(const struct process_address *key)
{
	bpf_map_delete_elem(&go_heads, key);
}

#endif
