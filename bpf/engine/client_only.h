/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Programs that only call are most of those that do. Their calls on a connection follow one
 * another and are all alike: once one was found to have no cause, none of those has one that the
 * same thread makes on the same path, as long as no program on this node has taken its first
 * request since.
 */
#ifndef CTXPROP_ENGINE_CLIENT_ONLY_H
#define CTXPROP_ENGINE_CLIENT_ONLY_H

#include "engine/decide.h"

/* The last call on a connection had no cause, and the next ones have none. */
static __always_inline void socket_becomes_client_only(struct socket *s, const struct actor *a,
						       __u32 newcomers)
{
	s->client_only = newcomers + 1;
	s->client_only_path = (__u32)a->path;
}

/* Had the last call no cause, and was it made by this thread, so that what happens now needs no
 * look? */
static __always_inline int socket_is_client_only(struct socket *s, const struct record_thread *now,
						 __u32 newcomers)
{
	const struct call *c = socket_last_call(s);

	return s->client_only == newcomers + 1 && !s->call_limit && c && c->tgid == now->tgid &&
	       c->tid == now->tid;
}

/* One more such call begins. */
static __always_inline void engine_call_again(struct socket *s, __u32 seq)
{
	struct call *c = &s->call[s->calls_end & (SOCKET_CALLS - 1)];
	const struct call *last = socket_last_call(s);

	if (!last)
		return;
	*c = *last;
	c->seq = seq;
	c->outstanding = 1;
	__sync_fetch_and_add(&s->calls_end, 1);
}

/* The answer to one is read. */
static __always_inline void engine_answer_client_only(struct socket *s)
{
	struct call *c = socket_last_call(s);

	if (c)
		c->outstanding = 0;
}

#endif
