/* SPDX-License-Identifier: GPL-2.0-only */
/* Responses of a local server of HTTP/2: framed as they leave, to know when each stream ends. */
#ifndef CTXPROP_TC_RESPOND_STREAMS_BPF_H
#define CTXPROP_TC_RESPOND_STREAMS_BPF_H

#include "31-http2.bpf.h"
#include "streams.bpf.h"

/* Whose answers are read. (Pointers to both take more of the stack than there is.) */
static __always_inline struct streams *streams_answering(const struct http2_run *r)
{
	return (void *)r->side - __builtin_offsetof(struct streams, answers);
}

/* One step, as a callback of bpf_loop(). */
static long streams_respond_step(__u32 i, struct http2_run *r)
{
	(void)i;
	if (http2_once(r))
		return 1;
	if (r->event == PROTOCOL_END)
		stream_ends(r->flow, streams_answering(r), r->side->stream, REASON_SERVED_ENDED);
	return r->event == PROTOCOL_STOP;
}

/* The socket has taken in bytes that were not read here, and that are not the rest of a frame's. */
static __always_inline int streams_out_of_step(const struct packet *p, const struct flow *f,
					       const struct streams *streams)
{
	__u32 unread = p->ack - f->serving.request_next;

	if (!seq_before(f->serving.request_next, p->ack) || !(p->flags & TCP_ACK))
		return 0;
	if (f->flags & FLOW_FIN_IN) /* it has a number, too */
		unread--;
	return http2_skippable(&streams->requests) < unread;
}

/* Requests and responses, as far as this packet tells of them. */
VERIFIED_ALONE int streams_respond(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct http2_run r = {.skb = skb, .flow = f, .s = scratch_get()};
	struct streams *streams;

	if (!r.s || !p || !f)
		return 0;
	r.s->served = p->key;
	streams = http2_served_lookup(&r.s->served);
	if (!streams)
		return 0;
	r.p = (struct packet *)p;
	r.side = &streams->answers;
	r.at = http2_goes_on(r.side, p, f->serving.response_next, &r.event);
	if (r.event == PROTOCOL_STOP || streams_out_of_step(p, f, streams)) {
		streams_refuse(&r.s->served, f, REASON_SERVED_LOST);
		return 0;
	}
	if (r.event == PROTOCOL_END)
		stream_ends(f, streams, r.side->stream, REASON_SERVED_ENDED);
	if (r.at == FRAME_NOWHERE)
		return 0;
	r.window = r.at;
	if (bpf_loop(FRAME_STEPS_MAX, streams_respond_step, &r, 0) >= FRAME_STEPS_MAX)
		streams_refuse(&r.s->served, f, REASON_WORK_CAP);
	else if (r.event == PROTOCOL_STOP)
		streams_refuse(&r.s->served, f, REASON_H2_MALFORMED);
	f->serving.response_next = p->seq + p->len;
	return 0;
}

#endif
