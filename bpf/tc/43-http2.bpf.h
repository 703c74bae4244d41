/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stages 3 and 4 of HTTP/2 (http/http2): the frames of a payload are read, and of each request that
 * ends its header block here it is decided whether it gets a header. That stands at the end of the
 * block, and its frame becomes longer. All that are decided about in one packet are one edit.
 */
#ifndef CTXPROP_TC_HTTP2_BPF_H
#define CTXPROP_TC_HTTP2_BPF_H

#include "31-http2.bpf.h"
#include "39-stream.bpf.h"
#include "41-change.bpf.h"
#include "70-lead.bpf.h"

/* A field counts so much of what a peer takes (RFC 9113, 6.5.2): its characters and 32. */
#define HTTP2_FIELD_COST (11 + TRACEPARENT_VALUE_LEN + 32)
/* Where the peer limits header blocks, and one is larger than a quarter of that, it stays as it is:
 * what its fields come to is not known. */
#define HTTP2_LIST_PART 4

/*
 * The first bytes of a connection are the method of HTTP/2's preface. Returns 0 if it is read as
 * HTTP/2 from there, else -1: it was not seen from its beginning, or there is no room.
 */
VERIFIED_ALONE int http2_begin(const struct packet *p, struct flow *f)
{
	struct scratch *s = scratch_get();
	struct flow_key key;

	if (!use_http2 || !s || !p || !f || !(f->flags & FLOW_WSCALE) || f->requests ||
	    p->seq != f->isn + 1 || (f->flags & (FLOW_LEARN | FLOW_FORMER | FLOW_PAST)))
		return -1;
	key = p->key;
	s->http2.isn = f->isn;
	s->http2.next = p->seq;
	s->http2.answer_next = p->ack;
	s->http2.places.seed = random_next(&s->random);
	s->http2.places.end = 0;
	http2_init(&s->http2.requests, PROTOCOL_REQUEST);
	http2_init(&s->http2.answers, PROTOCOL_RESPONSE);
	if (bpf_map_update_elem(&http2_flows, &key, &s->http2, BPF_ANY))
		return -1;
	f->flags |= FLOW_HTTP2;
	return 0;
}

/*
 * What is against a header in the block that has just ended at payload offset `place`, by what the
 * block itself is. Returns 0 or a reason. A frame whose length was sent before, in another packet
 * or as a part of this one, cannot become longer any more.
 */
static __always_inline __u32 http2_eligible(const struct outbound *o, const struct http2_flow *flow,
					    __u32 place)
{
	const struct http2 *h = &flow->requests;

	if (h->flags & HTTP2_TRACEPARENT)
		return REASON_PRESENT;
	if (h->flags & HTTP2_UNSURE)
		return REASON_H2_TABLE;
	if (h->flags & HTTP2_TRACESTATE)
		return REASON_STATE_ALONE;
	if (h->flags & HTTP2_CONTINUED)
		return REASON_H2_CONTINUATION;
	if (http2_before_end(h) > place || !h->block ||
	    seq_before(o->p->seq + place - http2_before_end(h), o->s->decision.sent))
		return REASON_H2_CUT;
	if (http2_frame_length(h) + FIELD_LEN > HTTP2_FRAME_MAX)
		return REASON_H2_LIMIT;
	if (flow->answers.list_max &&
	    h->block + HTTP2_FIELD_COST > flow->answers.list_max / HTTP2_LIST_PART)
		return REASON_H2_LIMIT;
	return 0;
}

/* Reasons that hold for any protocol. Returns 0 or a reason. */
static __always_inline __u32 http2_allowed(const struct outbound *o, const struct policy_verdict *v)
{
	if (control_paused())
		return REASON_PAUSED;
	if (decide_changes(v))
		return REASON_H2_RULE;
	if (o->p->ip_options)
		return REASON_IP_OPTIONS;
	if (!(o->flow->flags & FLOW_PEER_SEEN))
		return REASON_ONE_WAY;
	return decide_policy(v, cause_is_known(&o->s->call));
}

/*
 * Is there room for one more field, in the flow and in the packet, whose block ends at payload
 * offset `place`? Returns 0 or a reason.
 */
VERIFIED_ALONE int http2_room(struct __sk_buff *skb, struct packet *p, struct flow *f,
			      const struct http2_flow *h, __u32 place)
{
	struct outbound o = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	struct edits_view v;
	__u32 first, oldest, added;

	if (!o.s || !p || !f || !h)
		return REASON_EDITS_FULL;
	v = edits_view(&f->edits);
	first = o.s->decision.fresh ? o.s->decision.first : place - http2_before_end(&h->requests);
	oldest = v.count ? edits_at(&f->edits, v, 0)->first : h->places.end - o.s->decision.fresh;
	added = o.s->decision.added + FIELD_LEN;
	if (v.count >= EDITS_MAX || h->places.end - oldest >= FIELDS_MAX)
		return REASON_EDITS_FULL;
	decide_in_flight(&o);
	o.s->decision.behind = 0;
	if (!decide_fits_window(&o, added))
		return REASON_WINDOW;
	if (decide_can_grow(&o, first, added))
		return 0;
	if (place > WIRE_MAX)
		return decide_is_alone(&o, place) ? 0 : REASON_DEEP;
	return place + added <= WIRE_SIZE && added <= LEADS_MAX * lead_size(skb, p)
		   ? 0
		   : REASON_EDITS_FULL;
}

/* A field at payload offset `place`, with the ids of scratch.edit: one more of the edit of this
 * packet, scratch.joined. */
static __always_inline void http2_add(struct outbound *o, struct http2_flow *h, __u32 place)
{
	struct decision *d = &o->s->decision;
	struct edit *e = &o->s->joined;
	struct field_place *added;
	__u32 last = o->p->seq + place - 1, before = http2_before_end(&h->requests);

	if (!d->fresh) {
		__builtin_memset(e, 0, sizeof(*e));
		e->at = last;
		e->kind = EDIT_FIELDS;
		e->front = before - 1;
		e->first = h->places.end;
		d->first = place - before;
	}
	added = &h->places.ring[h->places.end++ & FIELDS_MASK];
	added->last = last - e->at;
	added->before = before;
	added->pad = h->requests.pad;
	added->flags = o->s->edit.trace_flags;
	__builtin_memcpy(added->trace_id, o->s->edit.trace_id, sizeof(added->trace_id));
	e->reach = last + 1 - e->at;
	e->places++;
	e->len += FIELD_LEN;
	d->fresh++;
	d->added += FIELD_LEN;
}

/* A request's header block ends at payload offset `place`: add a header, or count why not. */
VERIFIED_ALONE int http2_request(struct __sk_buff *skb, struct packet *p, struct flow *f,
				 struct http2_flow *h, __u32 place)
{
	struct outbound o = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	const struct policy_verdict *v;
	__u32 reason;

	if (!o.s || !p || !f || !h || attended_decided(skb))
		return 0;
	attended_decide(skb);
	v = policy_verdict(skb, p, f, 0, POLICY_OPEN_END);
	f->requests++;
	policy_count(skb, f, v);
	stream_cause(skb, h->requests.stream);
	reason = http2_allowed(&o, v);
	if (!reason)
		reason = http2_eligible(&o, h, place);
	if (!reason)
		reason = http2_room(skb, p, f, h, place);
	if (!reason && !f->owner)
		reason = share_join(skb, p, f);
	if (reason) {
		count(reason);
		return 0;
	}
	cause_count(&o.s->call);
	decide_ids(o.s, &o.s->edit, v);
	http2_add(&o, h, place);
	return 0;
}

/* One step, as a callback of bpf_loop(). */
static long http2_step(__u32 i, struct http2_run *r)
{
	(void)i;
	if (http2_once(r))
		return 1;
	if (r->event == PROTOCOL_BLANK)
		http2_request(r->skb, r->p, r->flow, r->h, r->at);
	if (r->event != PROTOCOL_STOP)
		return 0;
	flow_make_opaque(r->flow, REASON_H2_MALFORMED);
	return 1;
}

/* Where the reading goes on in this packet; FRAME_NOWHERE: nothing in it is new. */
static __always_inline __u32 http2_resume(struct http2_flow *h, const struct packet *p,
					  struct flow *f)
{
	__u32 gap;

	if (!seq_before(h->next, p->seq + p->len))
		return FRAME_NOWHERE;
	if (!seq_before(h->next, p->seq))
		return h->next - p->seq;
	gap = p->seq - h->next;
	if (http2_skippable(&h->requests) < gap) {
		flow_make_opaque(f, REASON_LOST); /* what the tables hold is not known any more */
		return FRAME_NOWHERE;
	}
	http2_skip(&h->requests, gap);
	return 0;
}

/* Is all of the packet new, and part of a frame of which nothing is read? */
static __always_inline int http2_passes(const struct http2_flow *h, const struct packet *p)
{
	return h->next == p->seq && http2_skippable(&h->requests) >= p->len;
}

/*
 * Read what is new in this packet, and decide about each request in it. `h`: http2_lookup(). (In
 * place, not as a function: Linux 6.1 allows no deeper calls.)
 */
static __always_inline void http2_read(struct __sk_buff *skb, struct scratch *s, struct packet *p,
				       struct flow *f, struct http2_flow *h)
{
	struct http2_run r = {.skb = skb, .p = p, .flow = f, .s = s, .h = h, .side = &h->requests};

	if (http2_passes(h, p)) {
		http2_skip(&h->requests, p->len);
		h->next += p->len;
		return;
	}
	r.at = http2_resume(h, p, f);
	if (r.at == FRAME_NOWHERE)
		return;
	r.window = r.at;
	if (bpf_loop(FRAME_STEPS_MAX, http2_step, &r, 0) >= FRAME_STEPS_MAX)
		flow_make_opaque(f, REASON_WORK_CAP);
	h->next = p->seq + p->len;
	if (s->decision.fresh) /* there is room: http2_room() */
		edits_add(&f->edits, &s->joined);
}

#endif
