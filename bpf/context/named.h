/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the head of a call says about its cause, after the engine has decided (see ids.h). */
#ifndef CTXPROP_CONTEXT_NAMED_H
#define CTXPROP_CONTEXT_NAMED_H

#include "context/account.h"

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

/* A request that came without a trace is part of the one that its program has begun for it. */
static __always_inline void request_adopt(struct request *r, __u64 id, const __u64 *trace)
{
	__u64 *to = (__u64 *)r->context.trace_id, thread;
	const struct worker *w = worker_lookup(&r->worker);

	to[0] = trace[0];
	to[1] = trace[1];
	r->flags &= ~REQUEST_ROOT;
	if (!w || w->published != id || r->worker.goroutine)
		return;
	thread = traces_ctx_key(r->worker.tgid, r->worker.tid);
	traces_set(thread, (const struct traces_ctx *)&r->context);
	if (r->state & STATE_ENDED)
		traces_unset(thread);
}

/* The call's head has a traceparent of the program's own, with this trace id: that is the truth. */
static __always_inline void engine_owned(struct call *c, const __u64 *trace)
{
	struct request *r = request_lookup(c->request);

	const __u8 *believed = c->evidence ? c->cause.trace_id : NULL;

	if (!believed && r)
		believed = r->context.trace_id;
	if (!believed || !c->outstanding)
		return;
	if (same_trace(believed, trace)) {
		if (!c->evidence)
			call_attribute(c, c->request, EVIDENCE_OWN);
		c->evidence = EVIDENCE_OWN;
	} else if (r && (r->flags & REQUEST_ROOT) && evidence_is_sure(c->evidence)) {
		request_adopt(r, c->request, trace);
		c->cause = r->context;
		c->evidence = EVIDENCE_OWN;
	} else if (c->evidence) {
		call_forget(c);
		c->veto = VETO_DISAGREE;
	}
}

/* The call's head has the x-request-id of this number. That of no request here says nothing. */
static __always_inline void engine_named(struct call *c, __u64 number)
{
	const struct id_entry *e = request_ids_lookup(c->tgid, number);
	const struct request *cause;
	__u64 only = e ? id_entry_only(e) : 0;

	if (!e || !c->outstanding || c->evidence == EVIDENCE_OWN)
		return;
	cause = request_lookup(c->request);
	if (!c->evidence && only) {
		call_attribute(c, only, EVIDENCE_REQUEST_ID);
	} else if (c->evidence && (!cause || cause->request_id != number)) {
		call_forget(c);
		c->veto = VETO_DISAGREE;
	}
}

#endif
