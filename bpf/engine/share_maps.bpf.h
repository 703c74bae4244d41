/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that say how much room there is, who has reached a share of it, and what user space is
 * told of that.
 */
#ifndef CTXPROP_ENGINE_SHARE_MAPS_BPF_H
#define CTXPROP_ENGINE_SHARE_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "engine/node.h"
#include "engine/share.h"
#include "engine/worker.h"
#include "runtimes/runtime.h"

/* Processes that have to do with requests; others have no entry. */
#define CTXPROP_PROCESSES_MAX 8192
/* Processes that have reached their share of a table, as far as they are named. */
#define CTXPROP_SHARES_MAX 256

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct node);
} node __weak SEC(".maps");

static __always_inline struct node *node_lookup(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&node, &zero);
}

/* What user space hears (struct runtime_event). */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 * 1024);
} runtime_events __weak SEC(".maps");

/* How many processes of a cgroup have an entry in `processes`, by its id. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_PROCESSES_MAX);
	__type(key, __u64);
	__type(value, struct share);
} cgroup_processes __weak SEC(".maps");

/* 1: user space was asked to remove what is left of processes that are gone (runtimes/runtime.h).
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} sweep_asked __weak SEC(".maps");

static __always_inline __u32 *sweep_asked_lookup(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&sweep_asked, &zero);
}

/* Which processes have reached their share of a table, and how often since. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_SHARES_MAX);
	__type(key, struct share_reached);
	__type(value, __u64);
} shares_reached __weak SEC(".maps");

/* How often the tables were halved, to fit into memory. */
static __always_inline __u32 node_halved(void)
{
	__u32 zero = 0;
	const struct node *now = bpf_map_lookup_elem(&node, &zero);

	return now ? now->halved & NODE_HALVED_MASK : 0;
}

/* From so many workers on, goroutines and the like have an entry only while they have a request. */
static __always_inline __u32 process_workers_kept(void)
{
	return PROCESS_WORKERS_KEPT >> node_halved();
}

/* Tell user space (enum runtime_event_kind). Returns 0, or why it does not hear that. */
static __always_inline long events_tell(__u32 tgid, __u32 kind)
{
	struct runtime_event event = {.tgid = tgid, .kind = kind};

	return bpf_ringbuf_output(&runtime_events, &event, sizeof(event), 0);
}

/* Process `payer` has reached its share of `table` (enum share_table). */
VERIFIED_ALONE int share_is_reached(__u32 payer, __u32 table)
{
	struct share_reached reached = {.tgid = payer, .table = table};
	__u64 one = 1, *times = bpf_map_lookup_elem(&shares_reached, &reached);

	if (times)
		__sync_fetch_and_add(times, 1);
	else if (!bpf_map_update_elem(&shares_reached, &reached, &one, BPF_NOEXIST))
		events_tell(payer, RUNTIME_EVENT_SHARE);
	return 0;
}

/* Process `tgid` is gone, and its share with it. */
static __always_inline void share_is_left(__u32 tgid)
{
	struct share_reached reached = {.tgid = tgid, .table = SHARE_WORKERS};

	bpf_map_delete_elem(&shares_reached, &reached);
	reached.table = SHARE_CGROUP;
	bpf_map_delete_elem(&shares_reached, &reached);
}

/*
 * What the cgroup of the current process has of table `processes`; NULL: it is the root of all, in
 * which whoever is has no share of its own, or there is no room for it.
 */
static __always_inline struct share *cgroup_share(__u64 cgroup)
{
	const struct share none = {};
	struct share *share = bpf_map_lookup_elem(&cgroup_processes, &cgroup);

	if (share || cgroup == CGROUP_ROOT)
		return share;
	bpf_map_update_elem(&cgroup_processes, &cgroup, &none, BPF_NOEXIST);
	return bpf_map_lookup_elem(&cgroup_processes, &cgroup);
}

/* May one more process of the current one's cgroup have an entry in tables of processes? */
static __always_inline int cgroup_has_room(__u64 cgroup)
{
	const struct share *share = bpf_map_lookup_elem(&cgroup_processes, &cgroup);

	return !share || share->taken < CGROUP_PROCESSES >> node_halved();
}

/* A process of this cgroup has lost its entry in table `processes`. */
static __always_inline void cgroup_leave(__u64 cgroup)
{
	struct share *share = bpf_map_lookup_elem(&cgroup_processes, &cgroup);

	if (!share)
		return;
	share_return(share);
	if (!share->taken)
		bpf_map_delete_elem(&cgroup_processes, &cgroup);
}

#endif
