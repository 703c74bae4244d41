/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, beside 2: the answers to recorded calls, framed as they come, to know when each call is
 * over, and how. Nothing of them is changed, nothing depends on them but records.
 */
#ifndef CTXPROP_TC_IN_CALLING_BPF_H
#define CTXPROP_TC_IN_CALLING_BPF_H

#include "30-frame.bpf.h"
#include "checksum.bpf.h"
#include "record.bpf.h"

/* One inbound packet of a connection with recorded calls. */
struct calling_run {
	struct flow *flow;
	struct frame frame;
	__u32 seq;  /* of the packet's first byte */
	__u32 lost; /* 1: an answer without a call */
};

/* An answer begins: to which call? Returns -1 when there is none. */
static __always_inline int calling_begin(struct calling_run *r)
{
	struct calling *c = &r->flow->calling;

	if (!calling_open_count(c))
		return -1;
	protocol_answers(&c->answers, c->open[c->open_first & (CALLING_OPEN_MAX - 1)].method);
	c->answer_start = r->seq + r->frame.at;
	c->first_ns = record_now(r->frame.s);
	return 0;
}

/* What an event of the framing comes to. Returns 1 when there is nothing more to read. */
static __always_inline int calling_event(struct calling_run *r)
{
	if (r->frame.event == PROTOCOL_END && protocol_status(r->frame.protocol) >= 200)
		record_called_end(r->flow, r->seq + r->frame.at, RECORD_ANSWERED);
	return r->frame.event == PROTOCOL_STOP;
}

/* One step of the framing, as a callback of bpf_loop(). */
static long calling_step(__u32 i, struct calling_run *r)
{
	(void)i;
	if (frame_is_used_up(&r->frame))
		return 1;
	if (protocol_between(r->frame.protocol) && calling_begin(r)) {
		r->lost = 1;
		return 1;
	}
	r->frame.event = PROTOCOL_NONE;
	frame_once(&r->frame);
	if (r->frame.event == PROTOCOL_BLANK)
		frame_end_head(&r->frame);
	if (r->frame.event == PROTOCOL_HEAD)
		frame_body(&r->frame);
	return calling_event(r) || frame_is_used_up(&r->frame);
}

/* The end of an answer without body is due, with no further byte. */
static __always_inline void calling_pending(struct calling_run *r)
{
	union frame_met met;

	if (!protocol_pending(r->frame.protocol))
		return;
	met.word = frame_scan(r->frame.protocol, &r->frame.s->window, 0, 0);
	r->frame.event = met.event;
	calling_event(r);
}

/* Where the reading goes on in this packet; FRAME_NOWHERE: nothing in it is to be read. */
static __always_inline __u32 calling_resume(const struct packet *p, struct calling *c)
{
	__u32 next = c->answer_next, gap;

	if (!seq_before(next, p->seq + p->len))
		return FRAME_NOWHERE;
	if (!seq_before(next, p->seq))
		return next - p->seq;
	gap = p->seq - next;
	/* What is missing comes again; what comes too early can be passed over if it is body. */
	if (protocol_skippable(&c->answers) <= gap)
		return FRAME_NOWHERE;
	protocol_skip(&c->answers, gap);
	c->answer_next = p->seq;
	return 0;
}

/* Read what is new in this packet. */
VERIFIED_ALONE int calling_read(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct scratch *s = scratch_get();
	struct calling_run r = {.flow = f};
	__u32 from;

	if (!s || !p || !f || !csum_intact(skb, p))
		return 0;
	from = calling_resume(p, &f->calling);
	if (from == FRAME_NOWHERE)
		return 0;
	r.seq = p->seq;
	frame_start(&r.frame, skb, s, &f->calling.answers, p);
	r.frame.at = r.frame.window = from;
	if (bpf_loop(FRAME_STEPS_MAX, calling_step, &r, 0) >= FRAME_STEPS_MAX)
		r.lost = 1;
	calling_pending(&r);
	f->calling.answer_next = p->seq + p->len;
	if (!r.lost && r.frame.event != PROTOCOL_STOP)
		return 0;
	if (protocol_status(&f->calling.answers) == 101) { /* what follows is another protocol */
		record_called_end(f, r.seq + r.frame.at, RECORD_ANSWERED);
		return 0;
	}
	count(REASON_RECORD_UNREAD);
	record_cut_calls(f, RECORD_CLOSED);
	return 0;
}

/* The connection ends here, as the peer sees it; an answer until then is complete. */
VERIFIED_ALONE int calling_end(const struct packet *p, struct flow *f)
{
	if (!p || !f)
		return 0;
	if ((p->flags & TCP_FIN) && protocol_until_close(&f->calling.answers) &&
	    f->calling.answer_next == p->seq + p->len)
		record_called_end(f, p->seq + p->len, RECORD_ANSWERED);
	if ((p->flags & TCP_RST) || f->calling.answer_next == p->seq + p->len)
		record_cut_calls(f, p->flags & TCP_RST ? RECORD_RESET : RECORD_CLOSED);
	return 0;
}

/* A packet of the peer on a connection whose calls may be recorded. */
static __always_inline void calling_packet(struct __sk_buff *skb, const struct packet *p,
					   struct flow *f)
{
	if (!calling_open_count(&f->calling))
		return;
	if (p->len)
		calling_read(skb, p, f);
	if (p->flags & (TCP_FIN | TCP_RST))
		calling_end(p, f);
}

#endif
