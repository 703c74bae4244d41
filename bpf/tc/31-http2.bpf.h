/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stage 3 of connections that speak HTTP/2 (http/http2): read frames in the payload of one packet.
 */
#ifndef CTXPROP_TC_FRAME_HTTP2_BPF_H
#define CTXPROP_TC_FRAME_HTTP2_BPF_H

#include "30-frame.bpf.h"
#include "http/http2/framing.h"

/* Set at load time: connections that begin to speak HTTP/2 are read, and get headers. */
const volatile __u32 use_http2 __weak = 0;

/*
 * What is known of a flow that speaks HTTP/2. NULL: nothing, or it is about another flow. `key`: on
 * the stack (before 6.4 a map's key must be there).
 */
static __always_inline struct http2_flow *http2_lookup(const struct flow_key *key,
						       const struct flow *f)
{
	struct http2_flow *h = bpf_map_lookup_elem(&http2_flows, key);

	return h && h->isn == f->isn ? h : NULL;
}

/* A run over the frames of one payload. */
struct http2_run {
	struct __sk_buff *skb;
	struct packet *p;
	struct flow *flow;
	struct scratch *s;
	struct http2_flow *h;
	struct http2 *side; /* the direction that is read, of `h` */
	__u32 at;           /* payload offset of the next byte */
	__u32 window;       /* that of the first byte in scratch.window */
	__u32 filled;       /* how many there are */
	__u32 event;        /* enum protocol_event: of the last step */
	__u32 place;        /* payload offset of a PROTOCOL_VALUE: its first byte */
};

/* One step of the automaton: the word of a frame_met. */
VERIFIED_ALONE __u64 http2_look(struct http2 *h, const struct protocol_window *w, __u32 i,
				__u32 len)
{
	union frame_met met = {.event = PROTOCOL_STOP};
	struct protocol_step step;

	if (!h || !w)
		return met.word;
	step = http2_scan(h, w, i, len);
	met.next = step.next;
	met.at = step.at;
	met.event = step.event;
	return met.word;
}

/* Make scratch.window hold the bytes at r->at, of which there are some. Returns 0 or -1. */
static __always_inline int http2_fill(struct http2_run *r)
{
	__u32 n = r->p->len - r->at;

	if (n > PROTOCOL_WINDOW)
		n = PROTOCOL_WINDOW;
	if (!size_within(&n, PROTOCOL_WINDOW) ||
	    bpf_skb_load_bytes(r->skb, r->p->payload + r->at, r->s->window.byte, n))
		return -1;
	r->window = r->at;
	r->filled = n;
	return 0;
}

/* One step. Returns 1 when the payload is used up. */
static __always_inline int http2_once(struct http2_run *r)
{
	__u64 skippable = http2_skippable(r->side);
	__u32 left = r->p->len - r->at;
	union frame_met met;

	r->event = PROTOCOL_NONE;
	if (!left && !http2_pending(r->side))
		return 1;
	if (!left) { /* an event that needs no byte */
		met.word = http2_look(r->side, &r->s->window, 0, 0);
		r->event = met.event;
		return 0;
	}
	if (skippable) {
		left = skippable < left ? skippable : left;
		r->event = http2_skip(r->side, left);
		r->at += left;
		return 0;
	}
	if (r->at - r->window >= r->filled && http2_fill(r)) {
		r->event = http2_refuse(r->side, HTTP2_STOP_UNREAD);
		return 0;
	}
	met.word = http2_look(r->side, &r->s->window, r->at - r->window, r->filled);
	r->at = r->window + met.next;
	r->place = r->window + met.at;
	r->event = met.event;
	return 0;
}

/*
 * Where the reading of a side goes on in this packet, if `next` is the byte that it expects;
 * FRAME_NOWHERE: nothing in it is to be read. A hole is passed over where it holds nothing that
 * matters: `ret_event` is PROTOCOL_END if a stream ends with it; else PROTOCOL_STOP.
 */
static __always_inline __u32 http2_goes_on(struct http2 *h, const struct packet *p, __u32 next,
					   __u32 *ret_event)
{
	__u32 gap;

	*ret_event = PROTOCOL_NONE;
	if (!seq_before(next, p->seq + p->len))
		return FRAME_NOWHERE;
	if (!seq_before(next, p->seq))
		return next - p->seq;
	gap = p->seq - next;
	if (http2_skippable(h) < gap) {
		*ret_event = PROTOCOL_STOP;
		return FRAME_NOWHERE;
	}
	*ret_event = http2_skip(h, gap);
	return 0;
}

#endif
