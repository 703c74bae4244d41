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
		struct lingering l = {.offset = offset};

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

/* The offset of a closed flow; 0: none. */
static __always_inline __u32 flow_lingering(const struct flow_key *key)
{
	struct lingering *l = bpf_map_lookup_elem(&lingers, key);

	return l ? l->offset : 0;
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
	return !(f->flags & (FLOW_SERVER | FLOW_LEARN | FLOW_FIN_BOTH)) && !edits_count(&f->edits);
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

/* Options of the SYN-ACK that decide what may be done to the flow. */
enum tcp_option {
	TCPOPT_END = 0,
	TCPOPT_NOP = 1,
	TCPOPT_MSS = 2,
	TCPOPT_WSCALE = 3,
	TCPOPT_SACK = 5,
	TCPOPT_MD5 = 19,
	TCPOPT_AO = 29,
	TCPOPT_MPTCP = 30,
};

struct tcp_options {
	__u16 mss;
	__u8 wscale;
	__u8 sack;      /* offset of the SACK option among the options */
	__u8 sack_size; /* its size, 0: there is none */
	__u32 refuse;   /* the reason why the flow must stay as it is; 0: none */
};

/* The walk over the options in scratch.header. */
struct options_walk {
	const __u8 *option;
	__u32 at, len;
	struct tcp_options *found;
};

#define TCP_OPTIONS_MAX 40

static __always_inline void tcp_option_note(struct options_walk *w, __u32 at, __u32 kind,
					    __u32 size)
{
	switch (kind) {
	case TCPOPT_MSS:
		w->found->mss = w->option[at + 2] << 8 | w->option[at + 3];
		break;
	case TCPOPT_WSCALE:
		w->found->wscale = w->option[at + 2];
		break;
	case TCPOPT_SACK:
		w->found->sack = at;
		w->found->sack_size = size;
		break;
	case TCPOPT_MD5:
	case TCPOPT_AO:
		w->found->refuse = REASON_TCP_SIGNED;
		break;
	case TCPOPT_MPTCP:
		w->found->refuse = REASON_MPTCP;
		break;
	}
}

/* One option, as a callback of bpf_loop(). An option that does not fit ends the walk. */
static long tcp_option_step(__u32 i, struct options_walk *w)
{
	(void)i;
	__u32 at = w->at, kind, size;

	if (at >= w->len || at >= TCP_OPTIONS_MAX)
		return 1;
	kind = w->option[at];
	if (kind == TCPOPT_END)
		return 1;
	size = kind == TCPOPT_NOP ? 1 : w->option[at + 1];
	if (size == 0 || at + size > w->len || (size < 2 && kind != TCPOPT_NOP))
		return 1;
	tcp_option_note(w, at, kind, size);
	w->at = at + size;
	return 0;
}

/* Copy the options of a segment into scratch.header and read them. Returns their length. */
VERIFIED_ALONE int tcp_options_read(struct __sk_buff *skb, const struct packet *p,
				    struct tcp_options *o)
{
	struct scratch *s = scratch_get();
	struct options_walk w = {.found = o};
	__u32 len;

	if (!s || !p || !o)
		return 0;
	w.len = len = packet_tcp_header(p) - sizeof(struct tcphdr);
	if (!size_within(&len, TCP_OPTIONS_MAX))
		return 0;
	if (bpf_skb_load_bytes(skb, p->l4 + sizeof(struct tcphdr), s->header, len))
		return 0;
	w.option = s->header;
	bpf_loop(TCP_OPTIONS_MAX, tcp_option_step, &w, 0);
	return len;
}

/* RFC 7323, 2.3: a larger shift is taken as 14, so that no window is larger than that. */
#define TCP_WSCALE_MAX  14
#define TCP_WINDOW_MAX  (1u << 30)
#define TCP_WSCALE_MASK 15 /* says to the verifier that no shift is out of range */

/*
 * Connections that pass this namespace twice: by way of a box outside, that inspects or balances
 * them, or of a program that takes packets from one device to another. (Within the machine a packet
 * keeps its mark.) Both times they look the same, and would be changed both times. So it has to
 * show before anything is changed: no side sends the same thing again this soon, and a copy that
 * the network makes takes the same way.
 */
#define TWICE_NS 200000000

static __always_inline int flow_is_soon(__u64 since_ns, __u64 limit_ns)
{
	return (__s64)(clock_coarse() - since_ns) < (__s64)limit_ns;
}

/*
 * The SYNs that left last; there is no flow yet. By hash, which may be shared: then the older one
 * is forgotten.
 */
#define SYNS_MAX 4096 /* a power of two */

struct syns {
	__u64
	    seen[SYNS_MAX]; /* high half: the hash; low half: when, which way, and whether twice */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct syns);
} syns __weak SEC(".maps");

#define SYN_TWICE      1
#define SYN_WAY(w)     ((__u32)(w) >> 1 & ((1 << PACKET_WAY_BITS) - 1))
#define SYN_TIME_SHIFT (1 + PACKET_WAY_BITS)
#define SYN_TIME_NS    1000000

static __always_inline __u64 syn_hash(const struct flow_key *key, __u32 isn)
{
	return (quiet_hash(key) ^ isn) * 0x9e3779b97f4a7c15ull;
}

static __always_inline __u64 *syn_place(__u64 hash)
{
	__u32 zero = 0;
	struct syns *s = bpf_map_lookup_elem(&syns, &zero);

	return s ? &s->seen[hash & (SYNS_MAX - 1)] : NULL;
}

/* Has so little time passed between two words of `seen`? */
static __always_inline int syn_is_soon(__u32 now, __u32 before)
{
	__u32 passed = (now >> SYN_TIME_SHIFT) - (before >> SYN_TIME_SHIFT);

	return passed << SYN_TIME_SHIFT >> SYN_TIME_SHIFT < TWICE_NS / SYN_TIME_NS;
}

/* Our side sends a SYN. */
static __always_inline void syn_note(struct __sk_buff *skb, const struct packet *p)
{
	__u64 hash = syn_hash(&p->key, p->seq), *place = syn_place(hash), before;
	__u32 way = packet_way(skb, p), now;

	if (!place || packet_was_met(skb, SIDE_OUT))
		return;
	packet_met(skb, SIDE_OUT);
	before = *place;
	now = (__u32)(clock_coarse() / SYN_TIME_NS) << SYN_TIME_SHIFT | way << 1;
	if (before >> 32 == hash >> 32 && syn_is_soon(now, before) &&
	    (SYN_WAY(before) != way || before & SYN_TWICE))
		now |= SYN_TWICE;
	*place = hash >> 32 << 32 | now;
}

VERIFIED_ALONE int syn_met(struct __sk_buff *skb, const struct packet *p)
{
	if (p)
		syn_note(skb, p);
	return 0;
}

static __always_inline int syn_was_twice(const struct flow_key *key, __u32 isn)
{
	__u64 hash = syn_hash(key, isn), *place = syn_place(hash);

	return place && *place >> 32 == hash >> 32 && (*place & SYN_TWICE);
}

/* A SYN-ACK for a flow that exists: the first one once more, and our side has said nothing yet? */
static __always_inline void flow_opens_again(struct __sk_buff *skb, const struct packet *p,
					     struct flow *f)
{
	const __u32 said = FLOW_LOCAL | FLOW_FORWARDED | FLOW_FIN_OUT | FLOW_AHEAD;

	if (!packet_was_met(skb, SIDE_IN) && flow_has_edits(f) && !(f->flags & said) &&
	    p->ack == f->isn + 1 && flow_is_soon(f->opened_ns, TWICE_NS) &&
	    f->way != packet_way(skb, p))
		flow_make_opaque(f, REASON_TWICE);
}

/* The peer has answered our SYN: the flow begins. */
static __always_inline void flow_open(struct __sk_buff *skb, const struct packet *p)
{
	struct tcp_options o = {};
	struct flow *f = flow_begin();

	if (!f)
		return;
	tcp_options_read(skb, p, &o);
	packet_met(skb, SIDE_IN);
	if (syn_was_twice(&p->key, p->ack - 1))
		o.refuse = REASON_TWICE;
	f->way = packet_way(skb, p);
	f->isn = p->ack - 1;
	f->next = f->sent = f->peer_ack = p->ack;
	f->peer_next = f->peer_end = p->seq + 1;
	f->window = p->window; /* never scaled in a SYN */
	f->mss = o.mss;
	/* No scale in the SYN-ACK: there is none (RFC 7323, 2.2), and that is known too. */
	f->wscale = o.wscale > TCP_WSCALE_MAX ? TCP_WSCALE_MAX : o.wscale;
	f->flags = FLOW_PEER_SEEN | FLOW_WSCALE;
	http1_init(&f->http, HTTP1_REQUEST);
	if (o.refuse)
		flow_refuse(f, o.refuse);
	if (!flow_publish(&p->key, f))
		return;
	count(REASON_OPEN);
	if (o.refuse)
		count(o.refuse);
}

#endif
