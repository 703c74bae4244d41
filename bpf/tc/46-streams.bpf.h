/* SPDX-License-Identifier: GPL-2.0-only */
/* Responses of a local server of HTTP/2: framed as they leave, to know when each stream ends. */
#ifndef CTXPROP_TC_RESPOND_STREAMS_BPF_H
#define CTXPROP_TC_RESPOND_STREAMS_BPF_H

#include "31-http2.bpf.h"
#include "streams.bpf.h"

/* One outbound packet of such a connection. */
struct streams_responding {
	struct http2_run run;
	struct streams *streams;
	__u32 refused; /* why the connection is not read any further; 0: it is */
};

/* One step, as a callback of bpf_loop(). */
static long streams_respond_step(__u32 i, struct streams_responding *r)
{
	struct http2_run *run = &r->run;

	(void)i;
	if (http2_once(run))
		return 1;
	if (run->event == PROTOCOL_END)
		stream_ends(run->flow, r->streams, run->side->stream, REASON_SERVED_ENDED);
	if (run->event != PROTOCOL_STOP)
		return 0;
	r->refused = REASON_H2_MALFORMED;
	return 1;
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
	struct streams_responding r = {.run = {.skb = skb, .flow = f, .s = scratch_get()}};
	__u32 event;

	if (!r.run.s || !p || !f)
		return 0;
	r.run.s->served = p->key;
	r.streams = http2_served_lookup(&r.run.s->served);
	if (!r.streams)
		return 0;
	r.run.p = (struct packet *)p;
	r.run.side = &r.streams->answers;
	r.run.at = http2_goes_on(r.run.side, p, f->serving.response_next, &event);
	if (event == PROTOCOL_STOP || streams_out_of_step(p, f, r.streams)) {
		streams_refuse(&r.run.s->served, f, REASON_SERVED_LOST);
		return 0;
	}
	if (event == PROTOCOL_END)
		stream_ends(f, r.streams, r.run.side->stream, REASON_SERVED_ENDED);
	if (r.run.at == FRAME_NOWHERE)
		return 0;
	r.run.window = r.run.at;
	if (bpf_loop(FRAME_STEPS_MAX, streams_respond_step, &r, 0) >= FRAME_STEPS_MAX)
		r.refused = REASON_WORK_CAP;
	if (r.refused)
		streams_refuse(&r.run.s->served, f, r.refused);
	f->serving.response_next = p->seq + p->len;
	return 0;
}

#endif
