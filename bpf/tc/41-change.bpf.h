/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Beside stage 4: requests whose trace fields a rule wants to be changed. What can be done to a
 * field is done in the packet that brings it, and recorded as edits of the flow like a header:
 * every retransmission has to say the same.
 *
 *   strip    the fields are renamed and emptied (change.h)
 *   restart  one traceparent gets the value of a new trace, all other fields are stripped; where
 *            none has room for it, the request gets a header as well
 */
#ifndef CTXPROP_TC_DECIDE_CHANGE_BPF_H
#define CTXPROP_TC_DECIDE_CHANGE_BPF_H

#include "40-decide.bpf.h"

/* Offsets in a packet beyond this are not written to. */
#define CHANGE_DEEPEST 65000

/* What the rule says about the request at hand. NULL: nothing of fields. */
static __always_inline const struct policy_verdict *change_verdict(void)
{
	struct policy_work *work = policy_work_get();

	return work && decide_changes(&work->verdict) ? &work->verdict : NULL;
}

/* Reasons that hold for all changes. Returns 0 or a reason. */
static __always_inline __u32 change_eligible(const struct outbound *o)
{
	if (control_paused())
		return REASON_PAUSED;
	return o->flow->flags & FLOW_PEER_SEEN ? 0 : REASON_ONE_WAY;
}

/* Is there anything against changing the noted fields? Returns 0 or a reason. */
static __always_inline __u32 change_hindrance(const struct outbound *o, __u32 more)
{
	struct change_fields *fields = &o->s->fields;
	__u32 last = (fields->count - 1) & (CHANGE_FIELDS_MAX - 1);

	if (!fields->count)
		return 0;
	if (fields->more || !change_fits(&o->flow->edits, fields, more))
		return REASON_EDITS_FULL;
	return o->p->payload + (fields->field[last].end - o->p->seq) > CHANGE_DEEPEST ? REASON_DEEP
										      : 0;
}

/* What can be done to the noted fields, and whether one of them gets the new traceparent. */
static __always_inline void change_give_order(const struct outbound *o, int restart, __u32 open)
{
	struct change_order *order = &o->s->order;

	order->limit = seq_before(o->p->seq, o->s->decision.sent) ? o->s->decision.sent : o->p->seq;
	order->open = open;
	order->parent = restart && !*protocol_marks(&o->flow->protocol);
	order->first = 0;
	order->last = o->s->fields.count;
}

/* Record what becomes of the noted fields; scratch.edit has the ids of a new traceparent. */
VERIFIED_ALONE int change_record_fields(struct flow *f)
{
	struct scratch *s = scratch_get();
	struct edit *ids;

	if (!s || !f)
		return 0;
	ids = &s->edit;
	s->decision.changed += change_record_all(&f->edits, &s->fields, &s->order, &s->change, ids);
	return 0;
}

/* What the head will be when that is done. */
VERIFIED_ALONE int change_judge(struct flow *f)
{
	struct scratch *s = scratch_get();

	if (!s || !f)
		return 0;
	if (change_find_parent(&s->fields, &s->order) < CHANGE_FIELDS_MAX)
		*protocol_marks(&f->protocol) |= CHANGE_HEAD_NEW;
	if (change_leaves(&s->fields, &s->order))
		*protocol_marks(&f->protocol) |= CHANGE_HEAD_LEFT;
	return 0;
}

/* The ids of a new trace, whatever the request may be caused by. */
static __always_inline void change_ids(struct scratch *s, const struct policy_verdict *v)
{
	__builtin_memset(&s->call, 0, sizeof(s->call));
	decide_ids(s, &s->edit, v);
}

/*
 * The packet ends within a head: what it has of the fields can be changed now or never. By host
 * that cannot be decided yet.
 */
VERIFIED_ALONE int change_early(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct outbound o = {.skb = skb, .p = (struct packet *)p, .flow = f, .s = scratch_get()};
	const struct policy_verdict *v;

	if (!o.s || !p || !f)
		return 0;
	v = policy_verdict(skb, p, f, 0, POLICY_OPEN_END);
	if (!decide_changes(v) || change_eligible(&o) || change_hindrance(&o, 0)) {
		*protocol_marks(&f->protocol) |= CHANGE_HEAD_LEFT;
		return 0;
	}
	change_give_order(&o, v->action == POLICY_RESTART, protocol_value_is_open(&f->protocol));
	change_ids(o.s, v);
	change_judge(f);
	return change_record_fields(f);
}

/* The restarted request needs a header: find decision.place for it. Returns 0 or a reason. */
VERIFIED_ALONE int change_place(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				__u32 blank, __u32 line)
{
	struct outbound o = {.skb = skb, .p = (struct packet *)p, .flow = f, .s = scratch_get()};
	__u32 reason, place = 0;

	if (!o.s || !p || !f)
		return REASON_NO_PLACE;
	reason = decide_eligible(&o);
	if (!reason && !decide_fits_window(&o, TRACEPARENT_LINE_LEN))
		reason = REASON_WINDOW;
	if (!reason)
		reason = decide_place(&o, blank, line, TRACEPARENT_LINE_LEN, &place);
	o.s->decision.place = place;
	return reason;
}

/* Record the header at decision.place, and the changes before and behind it. */
static __always_inline __u32 change_record_header(struct outbound *o)
{
	struct change_order *order = &o->s->order;
	__u32 place = o->s->decision.place, reason;

	order->last = change_before(&o->s->fields, o->p->seq + place);
	change_record_fields(o->flow);
	reason = decide_record(o, place, 0);
	if (!reason)
		decide_recorded(o, place);
	order->first = order->last;
	order->last = o->s->fields.count;
	change_record_fields(o->flow);
	return reason;
}

/* The head is complete. Returns the reason to count, REASON_NONE when the writing counts it. */
static __always_inline __u32 change_decide(struct outbound *o, const struct policy_verdict *v,
					   __u32 blank, __u32 line)
{
	int restart = v->action == POLICY_RESTART;
	__u8 *marks = protocol_marks(&o->flow->protocol);
	__u32 before = o->s->decision.changed, reason = change_eligible(o);

	if (!reason)
		reason = change_hindrance(o, restart);
	if (reason)
		return reason;
	change_give_order(o, restart, 0);
	change_judge(o->flow);
	change_ids(o->s, v);
	if (restart && !*marks) {
		reason = change_place(o->skb, o->p, o->flow, blank, line);
		if (!reason)
			reason = change_record_header(o);
		if (!reason)
			count(REASON_EVIDENCE_NONE);
		o->s->decision.named = !reason;
		return reason ?: REASON_NONE;
	}
	change_record_fields(o->flow);
	if (*marks & CHANGE_HEAD_LEFT)
		return REASON_NO_PLACE;
	if (o->s->decision.changed == before)
		return restart ? REASON_RESTARTED : REASON_STRIPPED;
	o->s->decision.named = restart;
	if (restart)
		o->s->decision.restarted++;
	else
		o->s->decision.stripped++;
	return REASON_NONE;
}

VERIFIED_ALONE int change_request(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				  __u32 blank, __u32 line)
{
	struct outbound o = {.skb = skb, .p = (struct packet *)p, .flow = f, .s = scratch_get()};
	const struct policy_verdict *v = change_verdict();
	__u32 reason;

	if (!o.s || !p || !f || !v)
		return 0;
	o.s->decision.named = 0;
	reason = change_decide(&o, v, blank, line);
	o.s->decision.reason = reason < REASON_COUNT         ? reason
			       : v->action == POLICY_RESTART ? REASON_RESTARTED
							     : REASON_STRIPPED;
	if (reason < REASON_COUNT)
		count(reason);
	return 0;
}

#endif
