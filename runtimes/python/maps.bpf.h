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
	__uint(max_entries, CTXPROP_TASKS_MAX);
	__type(key, struct process_address);
	__type(value, struct argument);
} arguments __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_WRITTEN_MAX);
	__type(key, __u64);
	__type(value, struct written);
} written __weak SEC(".maps");

#endif
