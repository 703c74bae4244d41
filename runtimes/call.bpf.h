/* SPDX-License-Identifier: GPL-2.0-only */
/* How the last call on a socket was decided. */
#ifndef CTXPROP_RUNTIMES_CALL_BPF_H
#define CTXPROP_RUNTIMES_CALL_BPF_H

#include "probes/decide.bpf.h"

/* Were there requests that the call could have been made for? */
static __always_inline int last_call_is_unknown(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	return c && !c->evidence && c->veto;
}

/* Does it come from a thread of which only is known who has woken it, or nothing? */
static __always_inline int last_call_is_handed_over(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	return c && (c->evidence == EVIDENCE_WAKE || (!c->evidence && c->veto));
}

/* Does it come from a thread that has read no request, and is no object known that tells more? */
static __always_inline int last_call_is_another_threads(struct socket *s)
{
	const struct call *c = socket_last_call(s);

	return c && c->evidence != EVIDENCE_THREAD && c->evidence != EVIDENCE_OBJECT;
}

#endif
