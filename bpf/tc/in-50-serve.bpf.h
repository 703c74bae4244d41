/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, 5: which connections of local servers are read, and from where on.
 *
 * From the first byte, if it passes here: a socket of this namespace has not received anything
 * yet, and a request may begin. Later only by proof, as on the client's side (outbound.bpf.c):
 * two requests, the first of which was answered, and both sides agree on the numbers.
 */
#ifndef CTXPROP_TC_IN_SERVE_BPF_H
#define CTXPROP_TC_IN_SERVE_BPF_H

#include "in-45-streams.bpf.h"

/* Where a packet stands in the stream of its socket. */
enum serve_place {
	SERVE_NOWHERE, /* no socket here, or not the byte that comes next */
	SERVE_START,   /* the first byte of the stream */
	SERVE_GREETED, /* the same, and our side has spoken first: scratch.greeted_to */
	SERVE_MIDDLE,  /* the byte that the socket waits for, and nothing of ours is on its way */
};

/* A socket that is still being accepted: its handshake's last acknowledgement brings data. */
static __always_inline enum serve_place serve_place_new(const struct packet *p, struct bpf_sock *sk)
{
	struct tcp_request_sock *request =
	    (struct tcp_request_sock *)bpf_skc_to_tcp_request_sock(sk);

	return request && p->seq == request->rcv_isn + 1 ? SERVE_START : SERVE_NOWHERE;
}

/* What a server of HTTP/2 begins with is shorter, in bytes: SETTINGS, maybe a WINDOW_UPDATE. */
#define SERVE_GREETING_MAX 128

/* Nothing was received yet. */
static __always_inline enum serve_place serve_place_first(struct scratch *s,
							  const struct bpf_tcp_sock *tp)
{
	if (!tp->data_segs_out)
		return SERVE_START;
	s->greeted_to = tp->snd_nxt;
	return tp->bytes_acked + (tp->snd_nxt - tp->snd_una) <= SERVE_GREETING_MAX ? SERVE_GREETED
										   : SERVE_NOWHERE;
}

static __always_inline enum serve_place serve_place_full(const struct packet *p, struct scratch *s,
							 struct bpf_sock *sk)
{
	struct bpf_tcp_sock *tp = bpf_tcp_sock(sk);

	if (!tp || tp->rcv_nxt != p->seq)
		return SERVE_NOWHERE;
	if (!tp->bytes_received)
		return serve_place_first(s, tp);
	/* A client has spoken before. */
	return tp->snd_nxt == p->ack ? SERVE_MIDDLE : SERVE_NOWHERE;
}

static __always_inline enum serve_place serve_place(struct __sk_buff *skb, const struct packet *p)
{
	struct scratch *s = scratch_get();
	struct bpf_sock *sk = s ? request_socket(skb, p, s) : NULL;
	enum serve_place place = SERVE_NOWHERE;

	if (!sk)
		return SERVE_NOWHERE;
	if (sk->state == BPF_TCP_NEW_SYN_RECV)
		place = serve_place_new(p, sk);
	else if (sk->state == BPF_TCP_ESTABLISHED)
		place = serve_place_full(p, s, sk);
	bpf_sk_release(sk);
	return place;
}

/*
 * What a method may be made of (RFC 9110, 5.6.2), as the start of a payload shows it; it may be
 * cut. This is all that is asked of most packets of unknown connections.
 */
static __always_inline int serve_may_begin(struct __sk_buff *skb, const struct packet *p)
{
	__u8 first[4] = {' ', ' ', ' ', ' '};

	if (p->fragment || (p->flags & (TCP_SYN | TCP_URG | TCP_RST)))
		return 0;
	if (bpf_skb_load_bytes(skb, p->payload, first, p->len < 4 ? 1 : 4))
		return 0;
	if (!protocol_may_begin(first[0]))
		return 0;
	/* A blank ends it. */
	for (int i = 1; i < 4 && first[i] != ' '; i++)
		if (!protocol_may_begin(first[i]))
			return 0;
	return 1;
}

/* The first of the two requests that it takes to join, and where its answer has to begin. */
static __always_inline void serve_candidate(const struct packet *p, struct flow *f, int start)
{
	f->flags &= ~(FLOW_CANDIDATE | FLOW_ANSWERED);
	if (start == START_MESSAGE)
		f->flags |= FLOW_CANDIDATE;
	f->answer_at = p->ack;
}

/* A connection that waits for a place to join. Returns whether it is joined with this packet. */
static __always_inline int serve_learn(struct __sk_buff *skb, const struct packet *p,
				       struct flow *f)
{
	const __u32 proof = FLOW_CANDIDATE | FLOW_ANSWERED;
	enum serve_place place;
	int start;

	if (!serve_may_begin(skb, p))
		return 0;
	place = serve_place(skb, p);
	start = place == SERVE_MIDDLE ? frame_look_ahead(skb, p) : START_OTHER;
	if (place != SERVE_START && ((f->flags & (proof | FLOW_PEER_LAST)) != proof || !start)) {
		serve_candidate(p, f, start);
		return 0;
	}
	serving_begin(f, p->seq, p->ack);
	return 1;
}

/* A server of HTTP/2 has sent its SETTINGS; what it sends next is read. */
static __always_inline void serve_greeted(const struct packet *p, struct flow *f)
{
	struct scratch *s = scratch_get();

	serving_begin(f, p->seq, s ? s->greeted_to : p->ack);
	f->flags |= FLOW_GREETED;
}

/*
 * What may be a request, on a connection that is not known: is it for a socket of ours? Returns 1
 * when it is to be read from this packet on, which nobody else does meanwhile.
 */
VERIFIED_ALONE int serve_stranger(struct __sk_buff *skb, const struct packet *p)
{
	enum serve_place place;
	int start = START_OTHER;
	struct flow_key key;
	struct flow *f;

	if (!p)
		return 0;
	place = serve_place(skb, p);
	if (place == SERVE_MIDDLE)
		start = frame_look_ahead(skb, p);
	if (place == SERVE_GREETED && !streams_may_begin(skb, p))
		return 0;
	if ((place != SERVE_START && place != SERVE_GREETED && !start) || !csum_intact(skb, p))
		return 0;
	f = flow_begin();
	if (!f)
		return 0;
	f->flags = FLOW_SERVER | FLOW_LEARN | FLOW_PEER_LAST;
	f->peer_next = p->seq;
	f->framing = place != SERVE_MIDDLE;
	if (place == SERVE_START)
		serving_begin(f, p->seq, p->ack);
	else if (place == SERVE_GREETED)
		serve_greeted(p, f);
	else
		serve_candidate(p, f, start);
	key = p->key; /* before 6.4 a map's key must be on the stack */
	return flow_publish(&key, f) && place != SERVE_MIDDLE;
}

/* Read what is new in a packet. (In a function of its own: the stack is shared by all callers.) */
static __always_inline void serve_read(struct __sk_buff *skb, const struct packet *p,
				       struct flow *f)
{
	if (f->flags & FLOW_HTTP2)
		streams_read(skb, p, f);
	else
		request_read(skb, p, f);
}

/* Read the first packet of it. */
static __always_inline void serve_first(struct __sk_buff *skb, const struct packet *p)
{
	struct flow *f = flow_lookup(&p->key);

	if (!f)
		return;
	policy_prepare(skb, p, f);
	if (streams_may_begin(skb, p))
		streams_begin(p, f);
	serve_read(skb, p, f);
	__sync_lock_test_and_set(&f->framing, 0);
}

enum serve_turn {
	SERVE_NOT,  /* not to be read, or another CPU is at it */
	SERVE_WAIT, /* nobody else is at it; but the connection waits for a place to join */
	SERVE_READ, /* it is to be read */
};

/* Data of a known connection. One CPU at a time reads; whoever comes second leaves a hole. */
VERIFIED_ALONE int serve_begin(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	if (!p || !f || p->fragment)
		return SERVE_NOT;
	if (protocol_skippable(&f->serving.requests) < p->len && !csum_intact(skb, p))
		return SERVE_NOT;
	if ((p->flags & TCP_URG) && !(f->flags & FLOW_HTTP2)) {
		serving_make_opaque(f, REASON_URGENT);
		return SERVE_NOT;
	}
	if (__sync_val_compare_and_swap(&f->framing, 0, 1))
		return SERVE_NOT;
	policy_prepare(skb, p, f);
	return !(f->flags & FLOW_LEARN) || serve_learn(skb, p, f) ? SERVE_READ : SERVE_WAIT;
}

/* Apart from serve_begin(), since the stack is shared by all callers. */
static __always_inline void serve_data(struct __sk_buff *skb, const struct packet *p,
				       struct flow *f)
{
	int turn = serve_begin(skb, p, f);

	if (turn == SERVE_NOT)
		return;
	if (turn == SERVE_READ)
		serve_read(skb, p, f);
	f->flags |= FLOW_PEER_LAST;
	f->seen_ns = clock_coarse();
	__sync_lock_test_and_set(&f->framing, 0);
}

/* A RST is believed as TCP does it (RFC 5961, 3.2): exactly where the next byte is expected. */
static __always_inline int serve_reset(const struct packet *p, const struct flow *f)
{
	return (p->flags & TCP_RST) &&
	       (p->seq == f->peer_next || p->seq == f->serving.request_next);
}

/* Who waits for responses has closed its side, as it seems. */
static __always_inline void serve_note_closed(struct serving *s)
{
	if (!s->client_closed)
		s->client_closed =
		    protocol_between(&s->responses) ? SERVING_CLOSED_BEFORE : SERVING_CLOSED_WITHIN;
}

/* The end of a connection as the client sees it; a half-closed one is still answered. */
static __always_inline void serve_end(const struct packet *p, struct flow *f)
{
	if (p->flags & TCP_FIN)
		f->flags |= FLOW_FIN_IN;
	if ((p->flags & TCP_FIN) || serve_reset(p, f))
		serve_note_closed(&f->serving);
	if ((f->flags & FLOW_FIN_BOTH) == FLOW_FIN_BOTH || serve_reset(p, f))
		serving_delete(&p->key, f);
}

/*
 * Does a SYN open another connection of the same tuple? Not a late duplicate that comes when its
 * connection carries requests already: its number is before what was read, and no server takes that
 * for a new connection (RFC 6191).
 */
static __always_inline int serve_is_anew(const struct packet *p, const struct flow *f)
{
	if ((p->flags & (TCP_SYN | TCP_ACK)) != TCP_SYN)
		return 0;
	/* Where nothing is read the number says nothing. */
	return (f->flags & (FLOW_OPAQUE | FLOW_LEARN)) ||
	       !seq_before(p->seq, f->serving.request_next);
}

/* A packet for a local server. */
static __always_inline int serve(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	if (p->len && !(f->flags & FLOW_OPAQUE))
		serve_data(skb, p, f);
	/* A new connection of the same tuple: whatever is known is about an older one. */
	if (serve_is_anew(p, f))
		serving_delete(&p->key, f);
	else if (p->flags & (TCP_FIN | TCP_RST))
		serve_end(p, f);
	return NEXT;
}

#endif
