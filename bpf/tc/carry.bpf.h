/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tracestate of edits that are in flight: each is kept, as it was sent, until the peer has
 * acknowledged it, since every retransmission has to carry the same bytes.
 *
 * Such an edit is longer than a traceparent line; its span id is the key.
 */
#ifndef CTXPROP_TC_CARRY_BPF_H
#define CTXPROP_TC_CARRY_BPF_H

#include "20-flow.bpf.h"

/* Edits with a tracestate that are in flight. When it is full, new ones go without. */
#define CARRIED_MAX 4096

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CARRIED_MAX);
	__type(key, __u64);
	__type(value, struct tracestate);
} carried __weak SEC(".maps");

static __always_inline struct tracestate *carry_lookup(const struct edit *e)
{
	__u64 id = *(const __u64 *)e->span_id;

	return bpf_map_lookup_elem(&carried, &id);
}

/*
 * Keep the tracestate of incoming request `from` for edit `e`. Returns the length of its line,
 * 0 when it cannot be kept.
 */
static __always_inline __u32 carry_keep(const struct edit *e, __u64 from)
{
	__u64 id = *(const __u64 *)e->span_id;
	struct tracestate *state = tracestate_lookup(from);
	__u32 len;

	if (!state)
		return 0;
	len = state->len;
	if (!len || len > TRACESTATE_LINE_MAX ||
	    bpf_map_update_elem(&carried, &id, state, BPF_NOEXIST))
		return 0;
	/* If the request ended meanwhile, another one may have had its place when it was copied. */
	if (tracestate_lookup(from) == state && state->len == len)
		return len;
	bpf_map_delete_elem(&carried, &id);
	return 0;
}

/* The edit was not recorded after all. */
static __always_inline void carry_forget(const struct edit *e)
{
	__u64 id = *(const __u64 *)e->span_id;

	bpf_map_delete_elem(&carried, &id);
}

/* A walk over edits of one flow whose tracestates are dropped. */
struct carry_walk {
	struct flow *flow;
	struct edits_view view;
	__u32 first; /* index of the first of them among the view */
	__u32 ack;   /* app: only those before it */
	__u32 all;   /* whatever their place */
};

/* One edit, as a callback of bpf_loop(). */
static long carry_drop_step(__u32 i, struct carry_walk *w)
{
	const struct edit *e = edits_at(&w->flow->edits, w->view, w->first + i);
	__u64 id = *(const volatile __u64 *)e->span_id;
	__u32 at = e->at, len = e->len;

	if (w->first + i >= w->view.count || (!w->all && !seq_before(at, w->ack)))
		return 1;
	/* Another CPU has retired it and dropped its tracestate: the slot may have a new edit. */
	if (edits_view(&w->flow->edits).first != w->view.first)
		return 1;
	if (len > TRACEPARENT_LINE_LEN)
		bpf_map_delete_elem(&carried, &id);
	return 0;
}

VERIFIED_ALONE int carry_drop(struct flow *f, __u32 first, __u32 ack, int all)
{
	struct carry_walk w = {.flow = f, .first = first, .ack = ack, .all = all};

	if (!f)
		return 0;
	w.view = edits_view(&f->edits);
	bpf_loop(EDITS_MAX, carry_drop_step, &w, 0);
	return 0;
}

/* The peer has acknowledged everything before app byte `ack`. To be called before edits_retire().
 */
static __always_inline void carry_retire(struct flow *f, __u32 ack)
{
	if (f->flags & FLOW_CARRIES)
		carry_drop(f, 0, ack, 0);
}

/* The flow ends. */
static __always_inline void carry_end(struct flow *f)
{
	if (f->flags & FLOW_CARRIES)
		carry_drop(f, 0, 0, 1);
}

/* The flow is over, and that is certain: a local socket says so. */
static __always_inline void flow_forget(const struct flow_key *key, struct flow *f)
{
	carry_end(f);
	flow_delete(key, f);
}

/*
 * A RST has ended the flow, as far as can be seen here. The receiver may ignore it or never get it:
 * so the offset is kept, and with edits in flight the whole flow.
 */
static __always_inline void flow_reset(const struct flow_key *key, struct flow *f)
{
	if (edits_count(&f->edits) || (f->flags & FLOW_PAST))
		f->flags |= FLOW_RESET;
	else
		flow_rest(key, f, 1);
}

/* The `n` youngest edits are taken back. To be called before edits_take_back(). */
static __always_inline void carry_take_back(struct flow *f, __u32 n)
{
	if (f->flags & FLOW_CARRIES)
		carry_drop(f, edits_count(&f->edits) - n, 0, 1);
}

#endif
