/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 2, the flow: one entry for each connection whose outbound side may carry requests.
 *
 * An entry is made when the peer answers a SYN of ours (so a flood of SYNs makes none, nor one of
 * answers, and the packets of the peer are known to pass here), or when a connection met in the
 * middle sends something that looks like a request. A plain hash: a live flow is never evicted.
 * When a connection has ended in both directions, only its offset is kept, in an LRU, for the
 * packets of TIME_WAIT.
 *
 * A packet proves little: SYN, RST and FIN can be a stranger's. So an offset is kept, and packets
 * whose numbers fit are translated, until a local socket or the other side has shown that the
 * connection is over.
 */
#ifndef CTXPROP_TC_FLOW_BPF_H
#define CTXPROP_TC_FLOW_BPF_H

#include "15-quiet.bpf.h"
#include "19-share.bpf.h"

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

/*
 * Flows with an offset whose tuple was opened once more, as far as the packets tell: they may be
 * alive if those packets were forged. Never evicted: when the map is full, the newer connection is
 * left alone.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_FORMER_MAX);
	__type(key, struct flow_key);
	__type(value, struct flow);
} formers __weak SEC(".maps");

/* Connections of ours that speak HTTP/2, by their flows. When it is full, others are left alone. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_HTTP2_MAX);
	__type(key, struct flow_key);
	__type(value, struct http2_flow);
} http2_flows __weak SEC(".maps");

/* How far numbers of one connection may lie apart, in bytes: more than most windows. */
#define FLOW_NEAR (1 << 24)

/* Is a number at most `reach` before or behind another one? */
static __always_inline int flow_near(__u32 number, __u32 other, __u32 reach)
{
	return number - other + reach < 2 * reach;
}

static __always_inline struct flow *flow_lookup(const struct flow_key *key)
{
	return bpf_map_lookup_elem(&flows, key);
}

static __always_inline struct flow *flow_former(const struct flow_key *key)
{
	return bpf_map_lookup_elem(&formers, key);
}

/* The newer of two flows of a tuple is over: the older one goes back into the table. */
VERIFIED_ALONE int flow_restore(const struct flow_key *tuple)
{
	struct flow_key key;
	struct flow *f;

	if (!tuple)
		return 0;
	key = *tuple; /* before 6.4 a map's key must be on the stack */
	f = flow_former(&key);
	if (f) {
		f->flags &= ~FLOW_PAST;
		bpf_map_update_elem(&flows, &key, f, BPF_EXIST);
	} else {
		bpf_map_delete_elem(&flows, &key);
	}
	bpf_map_delete_elem(&formers, &key);
	return 0;
}

static __always_inline void flow_delete(const struct flow_key *key, struct flow *f)
{
	if (f->owner)
		share_leave(f);
	if (f->flags & FLOW_HTTP2)
		bpf_map_delete_elem(&http2_flows, key);
	if (f->flags & FLOW_PAST)
		bpf_map_delete_elem(&formers, key);
	else if (f->flags & FLOW_FORMER)
		flow_restore(key);
	else
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
 * for its times. NULL: there is no scratch area, which cannot be.
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

/*
 * Put it into the table, in place of whatever is there. Returns it there; NULL (and counted): no
 * room.
 */
static __always_inline struct flow *flow_replace(const struct flow_key *key, const struct flow *f)
{
	long err = bpf_map_update_elem(&flows, key, f, BPF_ANY);

	quiet_end(key);
	if (err)
		count(REASON_TABLE_FULL);
	return err ? NULL : flow_lookup(key);
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

/* Bytes were missed: no edits until two requests show where to go on reading (outbound.bpf.c). */
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

/* In smaller windows no room is kept for a header (in-10-ack): bytes, and units of the scale. */
#define WINDOW_KEEP_FROM       4096
#define WINDOW_KEEP_FROM_UNITS 8

/* By how much the numbers at the end of our stream differ. */
VERIFIED_ALONE int flow_total(const struct flow *f)
{
	return f ? (int)edits_total(&f->edits) : 0;
}

/*
 * The flow is over, or so it looks: keep the offset, if there is one, and free the entry. The
 * offset counts edits in flight, too: of two acknowledgements that meet on two CPUs one retires
 * nothing, and no other may follow.
 */
static __always_inline void flow_rest(const struct flow_key *key, struct flow *f, __u32 reset)
{
	__u32 offset = flow_total(f);
	__u8 *mark;

	if (offset) {
		struct lingering l = {.offset = offset, .peer_end = f->peer_end, .reset = reset};

		l.sent = reset ? f->sent : f->fin_out;
		if (f->flags & FLOW_TWIN) {
			l.way_out = f->way_out;
			l.way_in = f->way_in;
		}
		bpf_map_update_elem(&lingers, key, &l, BPF_ANY);
		mark = reset ? quiet_reset(key) : NULL;
		if (mark)
			*mark = 1;
	}
	flow_delete(key, f);
}

/*
 * Can a flow of this tuple have ended? Not if there never was one with its hash: then the search
 * among closed flows can be spared.
 */
static __always_inline int flow_may_linger(const struct flow_key *key)
{
	return quiet_now(key) != 0;
}

/* May a flow of this tuple have been closed by a RST that was a stranger's? */
static __always_inline int flow_may_wake(const struct flow_key *key)
{
	const volatile __u8 *mark = quiet_reset(key);

	return mark && *mark;
}

/* Do the numbers and the way of a packet fit this closed flow? */
static __always_inline int lingering_fits(const struct packet *p, const struct lingering *l)
{
	int out = p->side == SIDE_OUT;
	__u32 way = out ? l->way_out : l->way_in;

	if (!flow_near(out ? p->seq : p->ack - l->offset, l->sent, FLOW_NEAR))
		return 0;
	if (way && !packet_ways_meet(way, p->way))
		return 0;
	return !(p->flags & TCP_ACK) || flow_near(out ? p->ack : p->seq, l->peer_end, FLOW_NEAR);
}

/* Which closed flows are asked for. */
enum lingering_kind { LINGERING_ANY, LINGERING_RESET };

/*
 * The offset of the closed flow that a packet belongs to; 0: none. Another connection that uses the
 * same addresses and ports meanwhile (25-twin) has other numbers, or comes another way. A flow that
 * was closed by a forged RST is alive, and its numbers grow.
 */
VERIFIED_ALONE __u32 flow_lingering(const struct packet *p, enum lingering_kind kind)
{
	struct lingering *l;
	struct flow_key key;

	if (!p)
		return 0;
	key = p->key; /* before 6.4 a map's key must be on the stack */
	l = bpf_map_lookup_elem(&lingers, &key);
	if (!l || (kind == LINGERING_RESET && !l->reset) || !lingering_fits(p, l))
		return 0;
	if (l->reset && p->side == SIDE_IN && !(p->flags & TCP_RST))
		l->peer_end = p->seq + p->len;
	return l->offset;
}

/*
 * A new connection of the tuple is opened by either side. `proven`: certainly. The offset of a flow
 * that ended with two FINs is dropped in any case, that of one that was reset only then.
 */
static __always_inline void lingering_end(const struct flow_key *key, int proven)
{
	const struct lingering *l = bpf_map_lookup_elem(&lingers, key);

	if (l && (proven || !l->reset))
		bpf_map_delete_elem(&lingers, key);
}

/* Is this flow neither edited nor renumbered, and need not be looked at? */
static __always_inline int flow_untouched(const struct flow *f)
{
	return (f->flags & FLOW_OPAQUE) && !flow_has_offset(f);
}

/*
 * Will it stay so for good? Yes if the CPU that reads its requests has made it opaque: no edit can
 * follow. Not if the answer to an Upgrade or urgent data did, since another CPU may be recording an
 * edit at the same time.
 */
static __always_inline int flow_untouched_for_good(const struct flow *f)
{
	return flow_untouched(f) && f->opaque_reason != REASON_UPGRADED &&
	       f->opaque_reason != REASON_URGENT && !(f->flags & FLOW_FORMER);
}

/*
 * Remember on this CPU that the flow is to be left alone. The flow is looked up after the epoch was
 * read: if it changes meanwhile, the epoch does, too, and what is remembered does not count.
 */
static __always_inline void flow_note_untouched(struct scratch *s, const struct flow_key *key)
{
	__u32 epoch = quiet_now(key);
	struct flow *f = flow_lookup(key);

	if (f && flow_untouched_for_good(f))
		quiet_note(s, key, epoch, QUIET_UNTOUCHED);
}

/*
 * Will all acknowledgements be translated by one number, until an edit is recorded or one side ends
 * its stream? Not of a flow that waits for a place to be joined: it has to see each of them.
 */
static __always_inline int flow_may_settle(const struct flow *f)
{
	const __u32 watched = FLOW_SERVER | FLOW_LEARN | FLOW_FIN_BOTH | FLOW_TWIN | FLOW_DOUBT |
			      FLOW_FORMER | FLOW_PAST | FLOW_RESET;

	return !(f->flags & watched) && !edits_count(&f->edits);
}

/* To be called after anything that may end that, and before the packet at hand leaves. */
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
		flow_delete(key, f);
	else if (flow_untouched_for_good(f))
		flow_note_untouched(s, key);
}

/*
 * Take the flow's framing, which one CPU at a time may change. A socket sends under its lock, so
 * its packets come one after the other; forwarded packets, and those that netfilter has queued for
 * user space, may come on two CPUs at once. Whoever comes second does not read its packet, which is
 * a hole in what was framed. Returns 0 when another CPU has it.
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
 * Is the flow's socket here, so that it can be asked whether the flow still lives? The first packet
 * decides; later ones may come from a firewall that sends a RST, and have no socket.
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

/*
 * Have both FINs been sent and acknowledged? A FIN behind which bytes were sent or acknowledged was
 * forged, and does not count.
 */
static __always_inline int flow_finished(const struct flow *f)
{
	return (f->flags & FLOW_FIN_BOTH) == FLOW_FIN_BOTH && f->peer_ack == f->fin_out + 1 &&
	       f->peer_next == f->peer_end + 1 && !seq_before(f->fin_out, f->sent);
}

#endif
