/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the head of a call says about its cause, after the engine has decided (see ids.h). */
#ifndef CTXPROP_ENGINE_NAMED_H
#define CTXPROP_ENGINE_NAMED_H

#include "engine/account.h"
#include "engine/habits.h"

/* What the engine has put down for the call is taken back: it is not known whose it is. */
static __always_inline void call_forget(struct call *c)
{
	struct worker_key caller = {.tgid = c->tgid, .tid = c->tid};

	if (c->request)
		request_sub(c->request, STATE_CALL);
	if (c->counted)
		unattributed_add(&caller, -1);
	c->request = 0;
	c->counted = 0;
	c->evidence = EVIDENCE_NONE;
	__builtin_memset(&c->cause, 0, sizeof(c->cause));
}

/* It is the call of this request. */
static __always_inline void call_attribute(struct call *c, __u64 id, enum evidence by)
{
	call_forget(c);
	if (request_copy_context(id, &c->cause))
		return;
	c->request = id;
	c->evidence = by;
	c->veto = VETO_NONE;
	request_add(id, STATE_CALL);
}

static __always_inline int same_trace(const __u8 *a, const __u64 *trace)
{
	const __u64 *b = (const __u64 *)a;

	return b[0] == trace[0] && b[1] == trace[1];
}

/* May the trace of a call be taken for that of its request? Where no other could have made it. */
static __always_inline int evidence_is_sure(enum evidence e)
{
	return e == EVIDENCE_GOROUTINE || e == EVIDENCE_THREAD;
}

/* Profilers see it, too, if they see the request. The thread may be at another one by now. */
static __always_inline void request_show_adopted(const struct request *r, __u64 id,
						 const struct traces_ctx *shown)
{
	const struct worker *w = worker_lookup(&r->worker);
	__u64 thread = traces_ctx_key(r->worker.tgid, r->worker.tid);

	if (!w || w->published != id || r->worker.context)
		return;
	traces_set(thread, shown);
	if (request_is_over(r, id) || *(const volatile __u64 *)&w->published != id)
		traces_unset(thread);
}

/*
 * A request that came without a trace is part of the one that its program has begun for it. Nothing
 * but a flag is written into the request: by now its place may be another one's, which no entry of
 * map `adopted` speaks of. Returns 0; -1: it is over, or is part of another one already.
 */
static __always_inline int request_adopt(struct request *r, __u64 id, const __u64 *trace)
{
	struct traces_ctx shown;
	__u64 *to = (__u64 *)&shown;

	to[0] = trace[0];
	to[1] = trace[1];
	to[2] = id;
	if (adopted_add(id, &shown))
		return -1;
	__sync_fetch_and_or(&r->flags, REQUEST_ADOPTED);
	if (request_is_over(r, id)) {
		adopted_delete(id);
		return -1;
	}
	request_show_adopted(r, id, &shown);
	return 0;
}

/* The same for the call that has shown it: of a request that is not known to have a trace. */
static __always_inline int call_adopts(struct call *c, struct request *r, const __u64 *trace)
{
	if (!r || !(r->flags & REQUEST_ROOT) || !evidence_is_sure(c->evidence))
		return 0;
	if (request_adopt(r, c->request, trace))
		return 0;
	return !request_copy_context(c->request, &c->cause);
}

/* The call's head has a traceparent of the program's own, with this trace id: that is the truth. */
static __always_inline void engine_owned(struct call *c, const __u64 *trace)
{
	struct request *r = request_lookup(c->request);
	const __u8 *believed = c->evidence ? c->cause.trace_id : NULL;

	if (!believed && r)
		believed = request_shown(r, c->request)->trace_id;
	if (!believed || !c->outstanding || rule_is_off(RULE_BY(EVIDENCE_OWN)))
		return;
	if (same_trace(believed, trace)) {
		if (!c->evidence)
			call_attribute(c, c->request, EVIDENCE_OWN);
		c->evidence = EVIDENCE_OWN;
	} else if (call_adopts(c, r, trace)) {
		c->evidence = EVIDENCE_OWN;
	} else if (c->evidence && !rule_is_off(RULE_VETO(VETO_DISAGREE))) {
		call_forget(c);
		c->veto = VETO_DISAGREE;
	}
}

/* What the x-request-id of a call says. */
struct naming {
	__u64 only;     /* the only open request of the process that has it; 0: several, or none */
	__u8 listed;    /* 1: some have it */
	__u8 claimed;   /* 1: one had it of late, which may be over */
	__u8 contested; /* 1: of several, from different addresses */
	__u8 reserved[5];
};

static __always_inline struct naming naming_of(__u32 tgid, __u64 number)
{
	__u64 hash = id_hash(tgid, number);
	const struct id_set *set = request_ids_set(hash);
	const __u64 *claims = id_claims_lookup(hash);
	__u64 claim = claims ? *(const volatile __u64 *)claims : 0;
	struct naming n = {.claimed = id_claim_is_of(claim, hash)};
	const struct request *r;

	n.contested = n.claimed && (claim & ID_CONTESTED);
	if (!set || !id_set_has(set, id_tag(hash)))
		return n;
	n.listed = 1;
	n.only = id_set_only(set, id_tag(hash));
	r = request_lookup(n.only);
	if (!r || r->request_id != number || r->worker.tgid != tgid)
		n.only = 0;
	return n;
}

/*
 * Does the process give its calls the ids of their requests? Only calls of which something else
 * tells the request show that: who guesses an id that the process makes could else show it himself.
 */
static __always_inline void learn_ids(struct process *p, const struct call *c,
				      const struct naming *n)
{
	if (c->evidence && n->only && n->only == c->request) {
		process_keeps(p, HABIT_COPIES_IDS);
	} else if ((c->evidence && n->only) || !(n->listed || n->claimed)) {
		process_breaks(p, HABIT_COPIES_IDS);
	}
}

/*
 * The call's head has the x-request-id of this number. That of no request here says nothing, and
 * neither does one that somebody else may have brought.
 */
static __always_inline void engine_named(struct call *c, __u64 number)
{
	__u32 tgid = c->tgid;
	struct process *p = process_lookup(&tgid);
	const struct request *cause;
	struct naming n;

	if (!c->outstanding || c->evidence == EVIDENCE_OWN || !p || p->number != c->number)
		return;
	n = naming_of(tgid, number);
	learn_ids(p, c, &n);
	cause = request_lookup(c->request);
	if (!c->evidence && n.only && !n.contested && process_has_habit(p, HABIT_COPIES_IDS) &&
	    !rule_is_off(RULE_BY(EVIDENCE_REQUEST_ID))) {
		call_attribute(c, n.only, EVIDENCE_REQUEST_ID);
	} else if (c->evidence && n.listed && (!cause || cause->request_id != number) &&
		   !rule_is_off(RULE_VETO(VETO_DISAGREE))) {
		call_forget(c);
		c->veto = VETO_DISAGREE;
	}
}

#endif
