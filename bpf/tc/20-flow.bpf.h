/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 2, the flow: one entry for each connection whose outbound side may carry requests.
 *
 * An entry is made when the peer answers a SYN (so a flood of SYNs makes none, and the packets
 * of the peer are known to pass here), or when a connection met in the middle sends something
 * that looks like a request. A plain hash: a live flow is never evicted. When a connection has
 * ended in both directions, only its offset is kept, in an LRU, for the packets of TIME_WAIT.
 */
#ifndef CTXPROP_TC_FLOW_BPF_H
#define CTXPROP_TC_FLOW_BPF_H

#include "15-quiet.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_FLOWS_DEFAULT);
	__type(key, struct flow_key);
	__type(value, struct flow);
} flows __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CTXPROP_LINGER_MAX);
	__type(key, struct flow_key);
	__type(value, struct lingering);
} lingers __weak SEC(".maps");

/* Bytes that were sent and have not arrived, or the other way round: more than in most windows. */
#define FLOW_NEAR (1 << 24)

/* Is a number within reach of another one, as far back as ahead? */
static __always_inline int flow_near(__u32 number, __u32 other, __u32 reach)
{
	return number - other + reach < 2 * reach;
}

static __always_inline struct flow *flow_lookup(const struct flow_key *key)
{
	return bpf_map_lookup_elem(&flows, key);
}

static __always_inline void flow_delete(const struct flow_key *key)
{
	bpf_map_delete_elem(&flows, key);
	quiet_end(key);
}

/* All zeros, in scratch.flow. */
VERIFIED_ALONE int flow_clear(void)
{
	struct scratch *s = scratch_get();

	if (s)
		__builtin_memset(&s->flow, 0, sizeof(s->flow));
	return 0;
}

/*
 * A new flow, to be filled in: nobody else can find it before flow_publish(). It is all zeros but
 * for its times. NULL: out of the question.
 */
static __always_inline struct flow *flow_begin(void)
{
	struct scratch *s = scratch_get();

	if (!s)
		return NULL;
	flow_clear();
	s->flow.opened_ns = s->flow.seen_ns = clock_coarse();
	return &s->flow;
}

/* Put it into the table. Returns it there; NULL (and counted): no room, or it exists already. */
static __always_inline struct flow *flow_publish(const struct flow_key *key, const struct flow *f)
{
	long err = bpf_map_update_elem(&flows, key, f, BPF_NOEXIST);

	quiet_end(key);
	if (err) {
		count(REASON_TABLE_FULL);
		return NULL;
	}
	return flow_lookup(key);
}

/* A flow that never gets an edit. */
static __always_inline void flow_refuse(struct flow *f, __u32 reason)
{
	f->flags = (f->flags & ~(FLOW_LEARN | FLOW_AWAIT)) | FLOW_OPAQUE;
	f->opaque_reason = reason;
}

/* From here on the flow is only renumbered. */
static __always_inline void flow_make_opaque(struct flow *f, __u32 reason)
{
	if (f->flags & FLOW_OPAQUE)
		return;
	flow_refuse(f, reason);
	count(reason);
}

/* Out of step: no edits until a place is found where it can be joined again. */
static __always_inline void flow_lose(struct flow *f)
{
	f->flags &= ~(FLOW_CANDIDATE | FLOW_ANSWERED | FLOW_AWAIT);
	f->flags |= FLOW_LEARN;
	count(REASON_LOST);
}

/* Does the wire stream differ from the app stream? */
static __always_inline int flow_has_offset(const struct flow *f)
{
	return flow_has_edits(f) && edits_any(&f->edits);
}

/* Of smaller windows nothing is kept back (in-10-ack): in bytes, and in units of the peer's scale.
 */
#define WINDOW_KEEP_FROM       4096
#define WINDOW_KEEP_FROM_UNITS 8

/* By how much the numbers at the end of our stream differ. */
VERIFIED_ALONE int flow_total(const struct flow *f)
{
	return f ? (int)edits_total(&f->edits) : 0;
}

/*
 * Both directions have ended, in order: keep the offset, if there is one, and free the entry. (Of
 * two acknowledgements that meet one retires nothing, and that may be the last one of all.)
 */
static __always_inline void flow_retire(const struct flow_key *key, const struct flow *f)
{
	__u32 offset = flow_total(f);

	if (offset) {
		struct lingering l = {
		    .offset = offset, .sent = f->fin_out, .peer_end = f->peer_end};

		if (f->flags & FLOW_TWIN) {
			l.way_out = f->way_out;
			l.way_in = f->way_in;
		}

		bpf_map_update_elem(&lingers, key, &l, BPF_ANY);
	}
	flow_delete(key);
}

/*
 * Can a flow of this tuple have ended? Not where none of its hash was ever made: so strangers are
 * spared the search where little goes out.
 */
static __always_inline int flow_may_linger(const struct flow_key *key)
{
	return quiet_now(key) != 0;
}

/*
 * The offset of the closed flow that a packet belongs to; 0: none. Who uses the same addresses and
 * ports while it lingers (25-twin) has other numbers, or is known to come another way.
 */
VERIFIED_ALONE __u32 flow_lingering(const struct packet *p)
{
	struct lingering *l;
	struct flow_key key;
	__u32 way;
	int out;

	if (!p)
		return 0;
	out = p->side == SIDE_OUT;
	key = p->key; /* before 6.4 a map's key must be on the stack */
	l = bpf_map_lookup_elem(&lingers, &key);
	if (!l || !flow_near(out ? p->seq : p->ack - l->offset, l->sent, FLOW_NEAR))
		return 0;
	way = out ? l->way_out : l->way_in;
	if (way && !packet_ways_meet(way, p->way))
		return 0;
	if ((p->flags & TCP_ACK) && !flow_near(out ? p->ack : p->seq, l->peer_end, FLOW_NEAR))
		return 0;
	return l->offset;
}

/* Is this flow neither edited nor renumbered? What is not HTTP should cost next to nothing. */
static __always_inline int flow_untouched(const struct flow *f)
{
	return (f->flags & FLOW_OPAQUE) && !flow_has_offset(f);
}

/*
 * Will it stay so for good? Whoever framed its requests made it opaque, and no edit can follow. The
 * answer to an Upgrade, or urgent data, may do so while another CPU is recording one.
 */
static __always_inline int flow_untouched_for_good(const struct flow *f)
{
	return flow_untouched(f) && f->opaque_reason != REASON_UPGRADED &&
	       f->opaque_reason != REASON_URGENT;
}

/* The next packet is spared the search, if the flow is still the same when its epoch is known. */
static __always_inline void flow_note_untouched(struct scratch *s, const struct flow_key *key)
{
	__u32 epoch = quiet_now(key);
	struct flow *f = flow_lookup(key);

	if (f && flow_untouched_for_good(f))
		quiet_note(s, key, epoch, QUIET_UNTOUCHED);
}

/*
 * Will all acknowledgements be translated by one number, until an edit is recorded or one side ends
 * its stream? A flow that waits for a place to join has to see each of them.
 */
static __always_inline int flow_may_settle(const struct flow *f)
{
	return !(f->flags & (FLOW_SERVER | FLOW_LEARN | FLOW_FIN_BOTH | FLOW_TWIN)) &&
	       !edits_count(&f->edits);
}

/* To be asked after whatever may end that, and before the packet at hand leaves. */
static __always_inline void flow_unsettle(const struct flow_key *key, struct flow *f)
{
	if (!f->settled || flow_may_settle(f))
		return;
	f->settled = 0;
	quiet_end(key);
}

/*
 * A packet of an untouched flow. Nothing has to be remembered once both sides have sent FIN, or
 * one of them RST.
 */
static __always_inline void flow_pass_untouched(struct scratch *s, const struct flow_key *key,
						struct flow *f, __u8 tcp_flags, __u32 fin)
{
	if (tcp_flags & TCP_FIN)
		f->flags |= fin;
	if ((tcp_flags & TCP_RST) || (f->flags & FLOW_FIN_BOTH) == FLOW_FIN_BOTH)
		flow_delete(key);
	else if (flow_untouched_for_good(f))
		flow_note_untouched(s, key);
}

/*
 * Packets of one direction mostly come one at a time: a socket sends under its lock. Of forwarded
 * ones that is only likely, and of those that wait in queues of netfilter for a word of user space;
 * framing two at once would ruin its state: whoever comes second leaves a hole in what is framed.
 * Returns 0 when another CPU is at it.
 */
static __always_inline int flow_begin_framing(struct flow *f)
{
	return !__sync_val_compare_and_swap(&f->framing, 0, 1);
}

static __always_inline void flow_end_framing(struct flow *f)
{
	__sync_lock_test_and_set(&f->framing, 0);
}

/*
 * Is there a socket that can be asked whether the flow still lives? The first packet shows it;
 * later ones may come without, from a firewall that resets.
 */
VERIFIED_ALONE int flow_find_origin(struct __sk_buff *skb, struct flow *f)
{
	struct sock_common *socket = packet_socket(skb);

	if (f)
		f->flags |= socket && packet_is_own(skb, socket) ? FLOW_LOCAL : FLOW_FORWARDED;
	return 0;
}

static __always_inline void flow_note_origin(struct __sk_buff *skb, struct flow *f)
{
	if (!(f->flags & (FLOW_LOCAL | FLOW_FORWARDED)))
		flow_find_origin(skb, f);
}

/* Have both FINs been sent and acknowledged? `acked`: by our side, in the peer's numbers. */
static __always_inline int flow_finished(const struct flow *f)
{
	return (f->flags & FLOW_FIN_BOTH) == FLOW_FIN_BOTH && seq_before(f->fin_out, f->peer_ack) &&
	       seq_before(f->peer_end, f->peer_next);
}

#endif
