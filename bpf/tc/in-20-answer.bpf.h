/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, 2: the few answers that have to be looked at. One that follows a request with
 * Upgrade tells whether the connection still speaks HTTP/1; one that begins with a status line
 * helps to join a connection that was met in the middle.
 */
#ifndef CTXPROP_TC_IN_ANSWER_BPF_H
#define CTXPROP_TC_IN_ANSWER_BPF_H

#include "30-frame.bpf.h"

/* The final status that the awaited answer shows in this packet; 0: none yet, -1: lost. */
static __always_inline int answer_status(struct frame *frame)
{
	/* A head brings BLANK and HEAD; an interim answer (1xx) END too. */
	for (int i = 0; i < 8; i++) {
		enum protocol_event event = frame_next(frame);
		int status = protocol_final_status(frame->protocol);

		if (status)
			return status;
		if (event == PROTOCOL_STOP)
			return -1;
		if (event == PROTOCOL_NONE)
			return 0;
	}
	return -1;
}

/*
 * Out of order: what is missing comes again, but this may not. Does it begin with a final answer?
 * In the place of the awaited one that is the answer, if only interim ones are missing.
 */
static __always_inline void answer_early(struct __sk_buff *skb, const struct packet *p,
					 struct scratch *s, struct flow *f)
{
	struct frame frame;
	int status;

	protocol_begin(&s->trial, PROTOCOL_RESPONSE);
	frame_start(&frame, skb, s, &s->trial, p);
	status = answer_status(&frame);
	if (status == 101)
		flow_make_opaque(f, REASON_UPGRADED);
	else if (status > 0 && flow_word(f) == FLOW_WORD_NONE) {
		f->answer_ahead = p->seq;
		f->flags |= FLOW_AHEAD;
	}
}

/* Everything before byte `next` is read, and was interim. Has the answer from there been seen? */
static __always_inline int answer_was_early(const struct flow *f, __u32 next)
{
	return flow_word(f) == FLOW_WORD_ANSWER && f->answer_ahead == next &&
	       !protocol_in_head(&f->answer) && !protocol_in_body(&f->answer);
}

/* Data of the peer while an Upgrade is unanswered. */
VERIFIED_ALONE int answer_await(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct scratch *s = scratch_get();
	struct frame frame;
	__u32 end;
	int status;

	if (!s || !p || !f)
		return 0;
	end = p->seq + p->len;
	if (!seq_before(f->answer_at, end))
		return 0;
	if (seq_before(f->answer_at, p->seq)) {
		answer_early(skb, p, s, f);
		return 0;
	}
	frame_start(&frame, skb, s, &f->answer, p);
	frame.at = frame.window = f->answer_at - p->seq;
	status = answer_status(&frame);
	f->answer_at = end;
	if (status == 101 || status < 0)
		flow_make_opaque(f, REASON_UPGRADED);
	else if (status || answer_was_early(f, end))
		f->flags = (f->flags & ~FLOW_AWAIT) | FLOW_REFUSED;
	return 0;
}

/* Data of the peer on a connection that waits to be joined: does it begin with a status line? */
static __always_inline void answer_learn(struct __sk_buff *skb, const struct packet *p,
					 struct flow *f)
{
	if ((f->flags & FLOW_CANDIDATE) && p->seq == f->answer_at && frame_is_status_line(skb, p))
		f->flags |= FLOW_ANSWERED;
}

static __always_inline void answer_data(struct __sk_buff *skb, const struct packet *p,
					struct flow *f)
{
	if (f->flags & FLOW_AWAIT)
		answer_await(skb, p, f);
	else if (f->flags & FLOW_LEARN)
		answer_learn(skb, p, f);
	/* What our side has acknowledged is an answer to something older. */
	if (seq_before(f->peer_next, p->seq + p->len))
		f->flags |= FLOW_PEER_LAST;
}

#endif
