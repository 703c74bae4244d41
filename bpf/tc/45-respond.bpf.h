/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Responses of a local server: framed as they leave, to know when each request is over. Nothing
 * of them is changed.
 */
#ifndef CTXPROP_TC_RESPOND_BPF_H
#define CTXPROP_TC_RESPOND_BPF_H

#include "30-frame.bpf.h"
#include "46-streams.bpf.h"
#include "serving.bpf.h"

/* One outbound packet of a server's connection. */
struct response {
	struct flow *flow;
	struct frame frame;
	__u32 seq;  /* of the packet's first byte */
	__u32 lost; /* 1: a response without a request */
};

/* A final response is complete. */
static __always_inline void respond_done(struct serving *s)
{
	serving_close(s, s->open_first, REASON_SERVED_ENDED);
	s->open_first++;
}

/* A response begins: which request does it answer? Returns -1 when there is none. */
static __always_inline int respond_begin(struct response *r, struct serving *s)
{
	if (!serving_open_count(s))
		return -1;
	protocol_answers(&s->responses, serving_slot(s, s->open_first)->method);
	record_responds(r->frame.skb, r->frame.s, s, r->seq + r->frame.at);
	return 0;
}

/* What an event of the framing comes to. Returns 1 when there is nothing more to read. */
static __always_inline int respond_event(struct serving *s, __u32 event)
{
	if (event == PROTOCOL_END && protocol_status(&s->responses) >= 200)
		respond_done(s);
	return event == PROTOCOL_STOP;
}

/* One step of the framing, as a callback of bpf_loop(). */
static long respond_step(__u32 i, struct response *r)
{
	struct serving *s = &r->flow->serving;

	(void)i;
	if (frame_is_used_up(&r->frame))
		return 1;
	if (protocol_between(&s->responses) && respond_begin(r, s)) {
		r->lost = 1;
		return 1;
	}
	r->frame.event = PROTOCOL_NONE;
	frame_once(&r->frame);
	if (r->frame.event == PROTOCOL_BLANK)
		frame_end_head(&r->frame);
	if (r->frame.event == PROTOCOL_HEAD)
		frame_body(&r->frame);
	s->response_at = r->seq + r->frame.at;
	return respond_event(s, r->frame.event) || frame_is_used_up(&r->frame);
}

/* At the end of a packet: is the response over without a body? */
static __always_inline void respond_pending(struct response *r)
{
	struct protocol *protocol = r->frame.protocol;
	union frame_met met;

	if (!protocol_pending(protocol))
		return;
	met.word = frame_scan(protocol, &r->frame.s->window, 0, 0);
	respond_event(&r->flow->serving, met.event);
}

VERIFIED_ALONE int respond_begun(__u64 request)
{
	engine_responds(request);
	return 0;
}

/* A final response has begun, and has not ended with this packet. */
static __always_inline void respond_goes_on(struct serving *s)
{
	const struct protocol *protocol = &s->responses;
	__u64 request;

	if (protocol_between(protocol) || protocol_status(protocol) < 200 || !serving_open_count(s))
		return;
	request = serving_slot(s, s->open_first)->request;
	record_responding(s, request);
	respond_begun(request);
}

/* Where the reading goes on in this packet; FRAME_NOWHERE: nothing in it is new. */
static __always_inline __u32 respond_resume(const struct packet *p, struct flow *f)
{
	struct serving *s = &f->serving;
	__u32 next = s->response_next, gap;

	if (!seq_before(next, p->seq + p->len))
		return FRAME_NOWHERE;
	if (!seq_before(next, p->seq))
		return next - p->seq;
	gap = p->seq - next;
	if (protocol_skippable(&s->responses) < gap) {
		serving_lose(f);
		return FRAME_NOWHERE;
	}
	if (protocol_skip(&s->responses, gap) == PROTOCOL_END)
		respond_done(s);
	return 0;
}

VERIFIED_ALONE int respond_read(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct scratch *s = scratch_get();
	struct response r = {.flow = f, .seq = p ? p->seq : 0};
	__u32 from;
	long steps;

	if (!s || !p || !f)
		return 0;
	from = respond_resume(p, f);
	if (from == FRAME_NOWHERE)
		return 0;
	frame_start(&r.frame, skb, s, &f->serving.responses, p);
	r.frame.at = r.frame.window = from;
	f->serving.acked = p->ack;
	steps = bpf_loop(FRAME_STEPS_MAX, respond_step, &r, 0);
	respond_pending(&r);
	respond_goes_on(&f->serving);
	f->serving.response_next = p->seq + p->len;
	if (protocol_stopped(&f->serving.responses))
		serving_make_opaque(f, protocol_reason(&f->serving.responses));
	else if (steps >= FRAME_STEPS_MAX)
		serving_make_opaque(f, REASON_WORK_CAP);
	else if (r.lost)
		serving_lose(f);
	return 0;
}

/* On a connection that waits to be joined: does our side answer with a status line? */
static __always_inline void respond_learn(struct __sk_buff *skb, const struct packet *p,
					  struct flow *f)
{
	if ((f->flags & FLOW_CANDIDATE) && p->seq == f->answer_at && frame_is_status_line(skb, p))
		f->flags |= FLOW_ANSWERED;
}

/*
 * The socket has taken in bytes that were not read here: they came by another way, or too early.
 * Those of a body do not matter.
 */
static __always_inline int respond_out_of_step(const struct packet *p, const struct flow *f)
{
	const struct serving *s = &f->serving;
	__u32 unread = p->ack - s->request_next;

	if (!seq_before(s->request_next, p->ack) || !(p->flags & TCP_ACK))
		return 0;
	/* A FIN has a number too. */
	if (f->flags & FLOW_FIN_IN)
		unread--;
	return protocol_skippable(&s->requests) < unread;
}

/* Requests that arrived with the handshake: now there is a socket to be told. */
static __always_inline void respond_early(struct __sk_buff *skb, struct flow *f)
{
	struct bpf_sock *sk = skb->sk;

	sk = sk ? bpf_sk_fullsock(sk) : NULL;
	if (sk && !serving_deliver(&f->serving, sk))
		f->flags &= ~FLOW_EARLY;
}

/* The end of a connection as our side sees it; a response until then is complete. */
static __always_inline void respond_end(const struct packet *p, struct flow *f)
{
	struct serving *s = &f->serving;

	if (p->flags & TCP_FIN) {
		f->flags |= FLOW_FIN_OUT;
		if (protocol_until_close(&s->responses))
			respond_done(s);
		serving_cut(f);
		if (f->flags & FLOW_HTTP2)
			streams_end(&p->key, f);
	}
	if ((p->flags & TCP_RST) || (f->flags & FLOW_FIN_BOTH) == FLOW_FIN_BOTH)
		serving_delete(&p->key, f);
}

/* Requests and responses, as far as this packet tells of them. */
VERIFIED_ALONE int respond_data(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	if (!p || !f)
		return 0;
	if (f->flags & FLOW_HTTP2) {
		if (!(f->flags & FLOW_OPAQUE))
			streams_respond(skb, p, f);
	} else if (!(f->flags & (FLOW_OPAQUE | FLOW_LEARN))) {
		if (f->flags & FLOW_EARLY)
			respond_early(skb, f);
		if (respond_out_of_step(p, f))
			serving_lose(f);
		else if (p->len)
			respond_read(skb, p, f);
	} else if (p->len && (f->flags & FLOW_LEARN)) {
		respond_learn(skb, p, f);
	}
	f->peer_next = p->ack;
	if (p->len) {
		f->flags &= ~FLOW_PEER_LAST;
		f->seen_ns = clock_coarse();
	}
	return 0;
}

/* A packet of a local server. */
static __always_inline int respond(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	respond_data(skb, p, f);
	if (p->flags & (TCP_FIN | TCP_RST))
		respond_end(p, f);
	return NEXT;
}

#endif
