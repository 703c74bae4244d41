/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of Go: goroutines, calls of net/http, channels. */
#ifndef CTXPROP_RUNTIMES_GO_MAPS_BPF_H
#define CTXPROP_RUNTIMES_GO_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "runtimes/runtime.bpf.h"

#define CTXPROP_GOROUTINES_MAX 8192
#define CTXPROP_MESSAGES_MAX   8192
#define CTXPROP_GO_SOCKETS_MAX 4096

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_GOROUTINES_MAX);
	__type(key, struct worker_key);
	__type(value, struct goroutine);
} goroutines __weak SEC(".maps");

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

#endif
