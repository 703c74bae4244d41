/* SPDX-License-Identifier: GPL-2.0-only */
/* The maps of requests, from their arrival to their end, and of what comes with them. */
#ifndef CTXPROP_ENGINE_REQUEST_MAPS_BPF_H
#define CTXPROP_ENGINE_REQUEST_MAPS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "compat.bpf.h"
#include "engine/ids.h"
#include "engine/model.h"
#include "engine/traces.h"
#include "tracestate.h"

/* Requests that are not over yet. */
#define CTXPROP_REQUESTS_MAX (1 << REQUEST_PLACE_BITS)
/* Requests that came with a tracestate, and those that programs have begun a trace for. */
#define CTXPROP_TRACESTATES_MAX 8192
#define CTXPROP_ADOPTED_MAX     16384

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, CTXPROP_REQUESTS_MAX);
	__type(key, __u32); /* request_place() */
	__type(value, struct request);
} requests __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << INBOX_PLACE_BITS);
	__type(key, __u32); /* inbox_place() */
	__type(value, struct inbox);
} inboxes __weak SEC(".maps");

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

static __always_inline struct id_set *request_ids_set(__u64 hash)
{
	__u32 index = id_set_index(hash);

	return bpf_map_lookup_elem(&request_ids, &index);
}

/* Who has brought which id of late; see engine/ids.h. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1 << ID_CLAIM_BITS);
	__type(key, __u32); /* id_claim_index() */
	__type(value, __u64);
} id_claims __weak SEC(".maps");

static __always_inline __u64 *id_claims_lookup(__u64 hash)
{
	__u32 index = id_claim_index(hash);

	return bpf_map_lookup_elem(&id_claims, &index);
}

/* `from`: a number for the address that request `id` came from. Returns its slot. */
VERIFIED_ALONE __u32 request_ids_add(__u64 hash, __u64 id, __u32 from)
{
	struct id_set *set = request_ids_set(hash);
	__u64 *claim = id_claims_lookup(hash);

	if (claim)
		id_claim(claim, hash, from);
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

/* Whatever stands, or stood, at a place. */
static __always_inline struct request *request_in(__u32 place)
{
	return bpf_map_lookup_elem(&requests, &place);
}

/* The same, at the place of an id. */
static __always_inline struct request *request_at(__u64 id)
{
	return request_in(request_place(id));
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

#endif
