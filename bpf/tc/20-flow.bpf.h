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
 * Flows with an offset that may live though another connection of the same tuple was opened: both
 * its sides have spoken, or somebody did in their names. Never evicted: when it is full, the newer
 * connection is left alone.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CTXPROP_FORMER_MAX);
	__type(key, struct flow_key);
	__type(value, struct flow);
} formers __weak SEC(".maps");

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

static __always_inline struct flow *flow_former(const struct flow_key *key)
{
	return bpf_map_lookup_elem(&formers, key);
}

/* The newer one of two flows of a tuple is over: the table has the older one again. */
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
 * The flow is over, or so it looks: keep the offset, if there is one, and free the entry. (Of two
 * acknowledgements that meet one retires nothing, and that may be the last one of all.)
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
 * Can a flow of this tuple have ended? Not where none of its hash was ever made: so strangers are
 * spared the search where little goes out.
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

/* Whose packet is it, by its numbers? */
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
 * The offset of the closed flow that a packet belongs to; 0: none. Who uses the same addresses and
 * ports while it lingers (25-twin) has other numbers, or is known to come another way. One that was
 * closed by a RST may live, and its numbers go on.
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

/* Our side opens a connection, or lets the peer. Of what ended with two FINs nothing is kept. */
static __always_inline void lingering_end(const struct flow_key *key, int proven)
{
	const struct lingering *l = bpf_map_lookup_elem(&lingers, key);

	if (l && (proven || !l->reset))
		bpf_map_delete_elem(&lingers, key);
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
	       f->opaque_reason != REASON_URGENT && !(f->flags & FLOW_FORMER);
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
	const __u32 watched = FLOW_SERVER | FLOW_LEARN | FLOW_FIN_BOTH | FLOW_TWIN | FLOW_DOUBT |
			      FLOW_FORMER | FLOW_PAST | FLOW_RESET;

	return !(f->flags & watched) && !edits_count(&f->edits);
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
		flow_delete(key, f);
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

/*
 * Have both FINs been sent and acknowledged? Nothing can be acknowledged behind them, nor was more
 * sent: one that says otherwise was a stranger's.
 */
static __always_inline int flow_finished(const struct flow *f)
{
	return (f->flags & FLOW_FIN_BOTH) == FLOW_FIN_BOTH && f->peer_ack == f->fin_out + 1 &&
	       f->peer_next == f->peer_end + 1 && !seq_before(f->fin_out, f->sent);
}

#endif
