/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The maps that tie packets, sockets and workers together. There is one of each on a node,
 * whatever the network namespace: keys and values tell namespaces apart where it matters.
 */
#ifndef CTXPROP_ENGINE_MAPS_BPF_H
#define CTXPROP_ENGINE_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "engine/ids.h"
#include "engine/model.h"
#include "engine/node.h"
#include "runtimes/runtime.h"
#include "engine/traces.h"
#include "engine/worker.h"
#include "tracestate.h"

/* Requests that are not over yet. */
#define CTXPROP_REQUESTS_MAX (1 << REQUEST_PLACE_BITS)
/* Threads and processes that have to do with requests; others have no entry. */
#define CTXPROP_WORKERS_MAX   32768
#define CTXPROP_PROCESSES_MAX 8192
/* Requests that came with a tracestate, and those that programs have begun a trace for. */
#define CTXPROP_TRACESTATES_MAX 8192
#define CTXPROP_ADOPTED_MAX     16384
/* Processes that have read no request, of which is found out what they run. */
#define CTXPROP_LISTENERS_MAX 4096
/* Processes that have reached their share of a table, as far as they are named. */
#define CTXPROP_SHARES_MAX 256

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CTXPROP_REQUESTS_MAX);
	__type(key, __u32); /* request_place() */
	__type(value, struct request);
} requests __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct node);
} node __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket);
} sockets __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << INBOX_PLACE_BITS);
	__type(key, __u32); /* inbox_place() */
	__type(value, struct inbox);
} inboxes __weak SEC(".maps");

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

/* Which processes have reached their share of a table, and how often since. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_SHARES_MAX);
	__type(key, struct share_reached);
	__type(value, __u64);
} shares_reached __weak SEC(".maps");

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

/* Read by profilers; everything about it is fixed (see engine/traces.h). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TRACES_CTX_MAX);
	__type(key, __u64);
	__type(value, struct traces_ctx);
} traces_ctx_v1 __weak SEC(".maps");

/*
 * The tracestate of a request, by the same key; only of requests that came with one. It may be
 * there before its request is: it is filled while the head is read.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_TRACESTATES_MAX);
	__type(key, __u64);
	__type(value, struct tracestate);
} tracestates __weak SEC(".maps");

/*
 * What requests that came without a trace are shown as since their program has begun one for them,
 * by their id. An entry never changes, and goes with its request.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_ADOPTED_MAX);
	__type(key, __u64);
	__type(value, struct traces_ctx);
} adopted __weak SEC(".maps");

/* Those of the open requests that brought an x-request-id; see engine/ids.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << ID_SET_BITS);
	__type(key, __u32); /* id_set_index() */
	__type(value, struct id_set);
} request_ids __weak SEC(".maps");

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

static __always_inline struct id_set *request_ids_set(__u64 hash)
{
	__u32 index = id_set_index(hash);

	return bpf_map_lookup_elem(&request_ids, &index);
}

VERIFIED_ALONE __u32 request_ids_add(__u64 hash, __u64 id)
{
	struct id_set *set = request_ids_set(hash);

	return set ? id_set_add(set, id_tag(hash), id) : ID_NO_SLOT;
}

static __always_inline void request_ids_remove(__u64 hash, __u32 where, __u64 id)
{
	struct id_set *set = request_ids_set(hash);

	if (set)
		id_set_remove(set, id_tag(hash), where, id);
}

static __always_inline const struct traces_ctx *adopted_lookup(__u64 id)
{
	return bpf_map_lookup_elem(&adopted, &id);
}

/* Returns 0, or what is wrong: there is one already, or no room. */
static __always_inline int adopted_add(__u64 id, const struct traces_ctx *shown)
{
	return bpf_map_update_elem(&adopted, &id, shown, BPF_NOEXIST);
}

static __always_inline void adopted_delete(__u64 id)
{
	bpf_map_delete_elem(&adopted, &id);
}

/* Whatever stands, or stood, at the place of an id. */
static __always_inline struct request *request_at(__u64 id)
{
	__u32 place = request_place(id);

	return bpf_map_lookup_elem(&requests, &place);
}

static __always_inline struct request *request_lookup(__u64 id)
{
	struct request *r = id ? request_at(id) : NULL;

	return r && r->id == id ? r : NULL;
}

/* Others may find at the same time that it is over, and its place is soon another one's. */
static __always_inline void request_free(struct request *r, __u64 id)
{
	if (r->context.tracestate)
		bpf_map_delete_elem(&tracestates, &id);
	if (r->flags & REQUEST_ADOPTED)
		adopted_delete(id);
	__sync_val_compare_and_swap(&r->id, id, 0);
}

static __always_inline void request_delete(__u64 id)
{
	struct request *r = request_lookup(id);

	if (r)
		request_free(r, id);
}

/* A new request, all zero but its id; NULL when another one has the place. */
static __always_inline struct request *request_make(__u64 id)
{
	struct request *r = id ? request_at(id) : NULL;

	if (!r || r->id || __sync_val_compare_and_swap(&r->id, 0, id))
		return NULL;
	__builtin_memset((void *)r + sizeof(r->id), 0, sizeof(*r) - sizeof(r->id));
	return r;
}

static __always_inline struct inbox *inbox_lookup(__u64 id)
{
	__u32 place = inbox_place(id);
	struct inbox *box = bpf_map_lookup_elem(&inboxes, &place);

	return box && id > INBOX_OWN && box->id == id ? box : NULL;
}

/* Take the place of this id for a new, empty inbox. Returns its id, or INBOX_OWN: it is taken. */
static __always_inline __u64 inbox_make(__u64 id)
{
	__u32 place = inbox_place(id);
	struct inbox *box = bpf_map_lookup_elem(&inboxes, &place);

	if (!box || box->id || __sync_val_compare_and_swap(&box->id, 0, id))
		return INBOX_OWN;
	box->first = box->end = 0;
	return id;
}

static __always_inline void inbox_free(__u64 id)
{
	struct inbox *box = inbox_lookup(id);

	if (box)
		__sync_val_compare_and_swap(&box->id, id, 0);
}

/* Where arrivals for a socket are; NULL: its inbox is lost, and so are they. */
static __always_inline struct inbox *socket_inbox(struct socket *s)
{
	return s->inbox > INBOX_OWN ? inbox_lookup(s->inbox) : &s->own;
}

/* A request gets the tracestate of another one, if that has one. */
static __always_inline void tracestate_copy(__u64 from, __u64 to)
{
	const struct tracestate *state = bpf_map_lookup_elem(&tracestates, &from);

	if (state && to)
		bpf_map_update_elem(&tracestates, &to, state, BPF_ANY);
}

static __always_inline struct tracestate *tracestate_lookup(__u64 id)
{
	return bpf_map_lookup_elem(&tracestates, &id);
}

/* Keys stand on the stack or in a map: Linux 6.1 takes them from nowhere else. */
static __always_inline struct worker *worker_lookup(const struct worker_key *key)
{
	return bpf_map_lookup_elem(&workers, key);
}

static __always_inline struct process *process_lookup(const __u32 *tgid)
{
	return bpf_map_lookup_elem(&processes, tgid);
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
	struct share *share;

	if (bpf_map_delete_elem(&processes, &tgid))
		return;
	newcomers_add();
	share = bpf_map_lookup_elem(&cgroup_processes, &cgroup);
	if (!share)
		return;
	share_return(share);
	if (!share->taken)
		bpf_map_delete_elem(&cgroup_processes, &cgroup);
}

static __always_inline void traces_set(__u64 key, const struct traces_ctx *shown)
{
	bpf_map_update_elem(&traces_ctx_v1, &key, shown, BPF_ANY);
}

static __always_inline void traces_unset(__u64 key)
{
	bpf_map_delete_elem(&traces_ctx_v1, &key);
}

static __always_inline const struct traces_ctx *traces_lookup(__u64 key)
{
	return bpf_map_lookup_elem(&traces_ctx_v1, &key);
}

#endif
