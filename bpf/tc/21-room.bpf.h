/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Still stage 2: room in the flow table. A flood of connections could fill it, and then no other
 * connection would get headers. So when it is full, flows that never had an edit are evicted:
 * nothing breaks without them, and those that are alive can be joined later (outbound.bpf.c).
 *
 * The oldest of the NEWEST_MAX youngest flows goes first. In a flood most of these belong to the
 * flood, and any other has had the time of thousands of connects to send its first request. Flows
 * that are serving a request go last, since that request cannot be followed any more.
 */
#ifndef CTXPROP_TC_ROOM_BPF_H
#define CTXPROP_TC_ROOM_BPF_H

#include "serving.bpf.h"

#define NEWEST_MAX    4096
#define STRANGERS_MAX 1024
/* Candidates that are tried to make room for one flow; of the last ones even such as serve. */
#define ROOM_TRIES      8
#define ROOM_TRIES_IDLE 4

/* The tuples of the flows that were made last. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, NEWEST_MAX);
	__uint(value_size, sizeof(struct flow_key));
} newest __weak SEC(".maps");

/* Of flows that one packet has made, whose socket is not here, and whose peer was not seen yet. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, STRANGERS_MAX);
	__uint(value_size, sizeof(struct flow_key));
} strangers __weak SEC(".maps");

/* Is a request being served, or does one arrive? */
static __always_inline int flow_serves(const struct flow *f)
{
	return (f->flags & FLOW_SERVER) && (serving_open_count(&f->serving) || f->serving.span);
}

/* What may be taken out of the table, and what has become of it. */
enum flow_use { FLOW_IDLE, FLOW_IN_USE };
enum flow_evicted { EVICTED_NOT, EVICTED_LATER, EVICTED };

/*
 * Take a flow out of the table, unless it has had an edit, has one of `flags`, or serves a request
 * and `use` is FLOW_IDLE. Its framing stays taken: a CPU that still looks at it records no edit.
 */
static __always_inline enum flow_evicted flow_evict(const struct flow_key *key, __u32 flags,
						    enum flow_use use)
{
	struct flow *f = flow_lookup(key);

	if (!f || (f->flags & (FLOW_FORMER | flags)) || flow_has_offset(f) ||
	    !flow_begin_framing(f))
		return EVICTED_NOT;
	if (flow_has_offset(f) || (use == FLOW_IDLE && flow_serves(f))) {
		flow_end_framing(f);
		return flow_serves(f) ? EVICTED_LATER : EVICTED_NOT;
	}
	if (f->flags & FLOW_SERVER)
		serving_delete(key, f);
	else
		flow_delete(key, f);
	count(REASON_CROWDED);
	return EVICTED;
}

/* The table is full. Returns whether there is room now. */
VERIFIED_ALONE int flow_make_room(void)
{
	struct scratch *s = scratch_get();

	for (int i = 0; s && i < ROOM_TRIES; i++) {
		enum flow_evicted evicted;

		if (bpf_map_pop_elem(&newest, &s->crowd))
			return 0;
		evicted = flow_evict(&s->crowd, 0, i < ROOM_TRIES_IDLE ? FLOW_IDLE : FLOW_IN_USE);
		if (evicted == EVICTED)
			return 1;
		if (evicted == EVICTED_LATER)
			bpf_map_push_elem(&newest, &s->crowd, BPF_EXIST);
	}
	return 0;
}

/* Put it into the table. Returns it there; NULL (and counted): no room, or it exists already. */
static __always_inline struct flow *flow_publish(const struct flow_key *key, const struct flow *f)
{
	long err = bpf_map_update_elem(&flows, key, f, BPF_NOEXIST);

	if (err && flow_make_room())
		err = bpf_map_update_elem(&flows, key, f, BPF_NOEXIST);
	quiet_end(key);
	if (err) {
		count(REASON_TABLE_FULL);
		return NULL;
	}
	bpf_map_push_elem(&newest, key, BPF_EXIST);
	return flow_lookup(key);
}

/*
 * A flow was made because of a packet that anybody could have sent. At most STRANGERS_MAX of them
 * are kept until their peers are seen, too; the oldest one goes first.
 */
VERIFIED_ALONE int flow_limit_strangers(const struct flow_key *tuple)
{
	struct flow_key key, oldest;

	if (!tuple)
		return 0;
	key = *tuple;
	if (!bpf_map_push_elem(&strangers, &key, 0))
		return 0;
	if (!bpf_map_pop_elem(&strangers, &oldest))
		flow_evict(&oldest, FLOW_PEER_SEEN | FLOW_LOCAL | FLOW_SERVER, FLOW_IDLE);
	bpf_map_push_elem(&strangers, &key, BPF_EXIST);
	return 0;
}

#endif
