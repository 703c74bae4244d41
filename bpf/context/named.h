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
	const struct request *r = request_lookup(id);

	call_forget(c);
	if (!r)
		return;
	c->cause = r->context;
	c->request = id;
	c->evidence = by;
	c->veto = VETO_NONE;
	request_add(id, STATE_CALL);
}

/* The call's head has the x-request-id of this number. That of no request here says nothing. */
static __always_inline void engine_named(struct call *c, __u64 number)
{
	const struct id_entry *e = request_ids_lookup(c->tgid, number);
	const struct request *cause;
	__u64 only = e ? id_entry_only(e) : 0;

	if (!e || !c->outstanding)
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
