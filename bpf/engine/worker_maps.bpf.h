/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of those who work on requests: threads and the like, and their processes. */
#ifndef CTXPROP_ENGINE_WORKER_MAPS_BPF_H
#define CTXPROP_ENGINE_WORKER_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "engine/share_maps.bpf.h"
#include "engine/worker.h"

/* Threads and the like that have to do with requests; others have no entry. */
#define CTXPROP_WORKERS_MAX 32768
/* Processes that have read no request, of which is found out what they run. */
#define CTXPROP_LISTENERS_MAX 4096

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_WORKERS_MAX);
	__type(key, struct worker_key);
	__type(value, struct worker);
} workers __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_PROCESSES_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct process);
} processes __weak SEC(".maps");

/*
 * Processes of which is found out what they run (runtimes/runtime.h) although they have read no
 * request yet: they listen, or were made by one that is known. There is room for some only.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_LISTENERS_MAX);
	__type(key, __u32);
	__type(value, __u32); /* 1 */
} listeners __weak SEC(".maps");

/* A process listens. Returns 0, or less: there is no room. */
static __always_inline long listener_set(__u32 tgid)
{
	__u32 one = 1;

	return bpf_map_update_elem(&listeners, &tgid, &one, BPF_ANY);
}

/* Returns 0, or less: it was not known to. */
static __always_inline long listener_delete(__u32 tgid)
{
	return bpf_map_delete_elem(&listeners, &tgid);
}

/* How many programs have begun to take requests, or have ended after they did, ever. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} newcomers __weak SEC(".maps");

/* Zeros: what a new worker starts from, which is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct worker);
} blank_worker __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct process);
} blank_process __weak SEC(".maps");

/* Keys stand on the stack or in a map: Linux 6.1 takes them from nowhere else. */
static __always_inline struct worker *worker_lookup(const struct worker_key *key)
{
	return bpf_map_lookup_elem(&workers, key);
}

static __always_inline struct process *process_lookup(const __u32 *tgid)
{
	return bpf_map_lookup_elem(&processes, tgid);
}

/* A process that has got its entry just now gets a number: the time, which comes again in hours. */
static __always_inline void process_numbered(struct process *p)
{
	__u32 number = (__u32)(bpf_ktime_get_ns() >> PROCESS_NUMBER_SHIFT) | 1;

	if (!p->number)
		__sync_val_compare_and_swap(&p->number, 0, number);
}

/* Make the entry of a process, which counts as one of its cgroup's. */
VERIFIED_ALONE int process_add(__u32 tgid)
{
	__u64 cgroup = bpf_get_current_cgroup_id();
	struct share *share = cgroup_share(cgroup);
	const struct process *blank;
	struct process *p;
	__u32 zero = 0;

	blank = bpf_map_lookup_elem(&blank_process, &zero);
	if (!blank)
		return 0;
	if (share && !share_take(share, CGROUP_PROCESSES >> node_halved())) {
		share_is_reached(tgid, SHARE_CGROUP);
		return 0;
	}
	if (!bpf_map_update_elem(&processes, &tgid, blank, BPF_NOEXIST)) {
		p = process_lookup(&tgid);
		if (p) {
			p->cgroup = share ? cgroup : 0;
			process_numbered(p);
		}
		return 0;
	}
	if (share)
		share_return(share);
	if (!process_lookup(&tgid))
		share_is_reached(0, SHARE_PROCESSES);
	return 0;
}

/* The process's entry, which is made if need be; NULL when there is no room for it. */
static __always_inline struct process *process_make(const __u32 *tgid)
{
	struct process *p = process_lookup(tgid);

	if (p)
		return p;
	process_add(*tgid);
	return process_lookup(tgid);
}

/* Make the entry of a worker, which process `payer` pays for, if that is known and can. */
VERIFIED_ALONE int worker_add(const struct worker_key *key, __u32 payer)
{
	struct process *p = process_lookup(&payer);
	const struct worker *blank;
	struct worker_key own;
	struct worker *w;
	__u32 zero = 0;

	blank = bpf_map_lookup_elem(&blank_worker, &zero);
	if (!key || !blank)
		return 0;
	own = *key;
	if (p && !share_take(&p->workers, PROCESS_WORKERS >> node_halved())) {
		share_is_reached(payer, SHARE_WORKERS);
		return 0;
	}
	if (!bpf_map_update_elem(&workers, &own, blank, BPF_NOEXIST)) {
		w = worker_lookup(&own);
		if (p && w)
			w->share = (struct share_taken){.tgid = payer, .number = p->number};
		return 0;
	}
	if (p)
		share_return(&p->workers);
	if (!worker_lookup(&own))
		share_is_reached(0, SHARE_WORKERS);
	return 0;
}

/* The worker's entry, which is made if need be; NULL when there is no room for it. */
static __always_inline struct worker *worker_make_for(const struct worker_key *key, __u32 payer)
{
	struct worker *w = worker_lookup(key);

	if (w)
		return w;
	worker_add(key, payer);
	return worker_lookup(key);
}

/* The same, paid for by its own process. */
static __always_inline struct worker *worker_make(const struct worker_key *key)
{
	return worker_make_for(key, key->tgid);
}

/* Without its process, which goes as well. */
static __always_inline void worker_delete_entry(const struct worker_key *key)
{
	bpf_map_delete_elem(&workers, key);
}

static __always_inline void worker_delete(const struct worker_key *key)
{
	const struct worker *w = worker_lookup(key);
	struct share_taken by;
	struct process *p;

	if (!w)
		return;
	by = w->share;
	if (bpf_map_delete_elem(&workers, key))
		return;
	p = process_lookup(&by.tgid);
	if (p && p->number == by.number)
		share_return(&p->workers);
}

static __always_inline __u32 newcomers_count(void)
{
	__u32 zero = 0;
	const volatile __u32 *count = bpf_map_lookup_elem(&newcomers, &zero);

	return count ? *count : 0;
}

/* A program has begun to take requests, or has ended. */
static __always_inline void newcomers_add(void)
{
	__u32 zero = 0;
	__u32 *count = bpf_map_lookup_elem(&newcomers, &zero);

	if (count)
		__sync_fetch_and_add(count, 1);
}

/* A process reads its first request. */
static __always_inline void process_begins(__u32 tgid)
{
	newcomers_add();
	bpf_map_delete_elem(&listeners, &tgid);
}

/* The process runs another program from now on, or none. */
static __always_inline void process_delete(__u32 tgid)
{
	const struct process *p = process_lookup(&tgid);
	__u64 cgroup = p ? p->cgroup : 0;

	if (bpf_map_delete_elem(&processes, &tgid))
		return;
	newcomers_add();
	cgroup_leave(cgroup);
}

#endif
