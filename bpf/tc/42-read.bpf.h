/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Above stages 3 to 41: the payload of a packet is read to its end, and each event of the reading
 * comes to what it has to.
 */
#ifndef CTXPROP_TC_READ_BPF_H
#define CTXPROP_TC_READ_BPF_H

#include "43-http2.bpf.h"

/* The request asks for an Upgrade: its answer decides whether HTTP/1 goes on. */
static __always_inline void read_await(struct outbound *o)
{
	struct flow *f = o->flow;

	/* If an older request may be unanswered, it cannot be told which answer belongs to this
	 * one. (Not after a refusal: what came then may be the rest of the refused body.) */
	if (f->requests > 1 && !(f->flags & (FLOW_PEER_LAST | FLOW_REFUSED))) {
		flow_make_opaque(f, REASON_UPGRADED);
		return;
	}
	protocol_begin(&f->answer, PROTOCOL_RESPONSE);
	f->answer_at = o->p->ack;
	f->flags = (f->flags & ~(FLOW_AHEAD | FLOW_REFUSED)) | FLOW_AWAIT;
}

/* A piece of a trace field has passed: a rule may want it changed. */
VERIFIED_ALONE int read_note(const struct flow *f, __u32 from, __u32 to)
{
	struct scratch *s = scratch_get();

	if (s && f)
		change_note(&s->fields, &f->protocol, from, to);
	return 0;
}

/* The head at hand has a traceparent of the program's own, or a tracestate. */
static __always_inline void read_value(struct outbound *o, const struct frame *frame)
{
	const struct protocol *protocol = frame->protocol;

	if (protocol_field(protocol) == PROTOCOL_FIELD_PARENT && protocol_value_begins(protocol))
		cause_owned(o->skb, o->p->seq + frame->at - protocol_head_size(protocol),
			    frame->payload + frame->place, frame->at - frame->place);
	read_note(o->flow, o->p->seq + frame->place, o->p->seq + frame->at);
}

/* The blank line of a head. */
static __always_inline void read_blank(struct outbound *o, struct frame *frame)
{
	/* While an Upgrade is unanswered nothing that follows is known to be HTTP. */
	if (o->flow->flags & FLOW_AWAIT)
		flow_make_opaque(o->flow, REASON_UPGRADED);
	else if (!protocol_is_tunnel(frame->protocol) && /* a tunnel, not a request */
		 decide_request(o->skb, o->p, o->flow, frame->place, frame->line))
		change_request(o->skb, o->p, o->flow, frame->place, frame->line);
	if (o->s->decision.reason != REASON_NONE)
		record_called(o->skb, o->p, o->flow,
			      cause_head_start(o->p, frame->protocol, frame->place), frame->place);
	o->s->fields.count = o->s->fields.more = 0;
	if (!(o->flow->flags & FLOW_OPAQUE))
		frame_end_head(frame);
}

/* What an event of the framing comes to. Returns 0 to go on, 1 when the flow is opaque now. */
static __always_inline int read_event(struct outbound *o, struct frame *frame)
{
	if (frame->event == PROTOCOL_BLANK)
		read_blank(o, frame);
	switch (frame->event) {
	case PROTOCOL_VALUE:
		if (!frame_takes_id(frame, &o->flow->id))
			read_value(o, frame);
		return 0;
	case PROTOCOL_BLANK:
		break;
	case PROTOCOL_HEAD:
		if (protocol_asks_upgrade(frame->protocol))
			read_await(o);
		else if (o->flow->flags & FLOW_REFUSED)
			o->flow->flags &= ~FLOW_REFUSED;
		protocol_end_bodiless(frame->protocol);
		frame->line = FRAME_NOWHERE;
		o->flow->id = (struct request_id){};
		break;
	case PROTOCOL_STOP:
		if (protocol_stopped_at_shared(frame->protocol))
			cause_shares(cause_socket(o->skb), SOCKET_SHARED | SOCKET_ASKS);
		if (protocol_reason(frame->protocol) == REASON_HTTP2 &&
		    !http2_begin(o->p, o->flow)) {
			stream_socket_begins(o->skb);
			return 1;
		}
		flow_make_opaque(o->flow, protocol_reason(frame->protocol));
		break;
	default:
		return 0;
	}
	return !!(o->flow->flags & FLOW_OPAQUE);
}

/* One outbound packet that is read. */
struct read_run {
	struct outbound o;
	struct frame frame;
};

/* One step of the framing. Returns 1 when there is nothing more to read. */
static __always_inline int read_once(struct read_run *run)
{
	return frame_once(&run->frame) || read_event(&run->o, &run->frame) ||
	       frame_is_used_up(&run->frame);
}

/* The same as a callback of bpf_loop(). */
static long read_step(__u32 i, struct read_run *run)
{
	(void)i;
	return read_once(run);
}

/* Where the framing goes on in this packet; FRAME_NOWHERE: nothing in it is new. */
static __always_inline __u32 read_resume(struct outbound *o)
{
	struct flow *f = o->flow;
	__u32 end = o->p->seq + o->p->len, gap;

	if (!seq_before(f->next, end))
		return FRAME_NOWHERE;
	if (!seq_before(f->next, o->p->seq))
		return f->next - o->p->seq;
	/* A hole: harmless inside a body, else the flow is out of step. */
	gap = o->p->seq - f->next;
	if (protocol_skippable(&f->protocol) < gap) {
		count(REASON_HOLE);
		flow_lose(f);
		return FRAME_NOWHERE;
	}
	protocol_skip(&f->protocol, gap);
	f->next = o->p->seq;
	return 0;
}

/* Read what is new in this packet and decide about each request in it. */
static __always_inline void read_packet(struct read_run *run)
{
	struct outbound *o = &run->o;
	__u32 from = read_resume(o);

	if (from == FRAME_NOWHERE)
		return;
	frame_start(&run->frame, o->skb, o->s, &o->flow->protocol, o->p);
	run->frame.at = run->frame.window = from;
	o->s->fields.count = o->s->fields.more = 0;
	/* One step is all that most heads take: it is spared the loop. */
	if (!read_once(run) && bpf_loop(FRAME_STEPS_MAX, read_step, run, 0) >= FRAME_STEPS_MAX)
		flow_make_opaque(o->flow, REASON_WORK_CAP);
	if (o->s->fields.count)
		change_early(o->skb, o->p, o->flow);
	if (protocol_in_head(&o->flow->protocol))
		record_head_part(o->skb, o->p,
				 o->p->seq + o->p->len - protocol_head_size(&o->flow->protocol),
				 RECORD_CALLED_PART);
	if (protocol_in_head(&o->flow->protocol) && protocol_in_fields(&o->flow->protocol))
		policy_keep(o->skb, o->p, o->flow,
			    o->p->seq + o->p->len - protocol_head_size(&o->flow->protocol));
	o->flow->next = o->p->seq + o->p->len;
}

#endif
