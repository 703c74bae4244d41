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

#endif
