/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Bytes between two processes of this host that speak no HTTP to each other (FastCGI, uwsgi, a
 * database): what the sender does them for, the receiver works on, too. It gets a request of its
 * own in the same trace, which is over when the sender's is, at the latest.
 *
 * Over a unix socket the sender puts its request straight into the receiver's socket; over TCP a
 * map by the connection's addresses carries it (peers.bpf.h).
 */
#ifndef CTXPROP_ENGINE_PEER_H
#define CTXPROP_ENGINE_PEER_H

#include "engine/engine.h"

static __always_inline int peer_is_pending(const struct socket *s)
{
	return s->own.first != s->own.end;
}

/* Is the receiver still at what it was sent before? Then what is sent now belongs to that. */
static __always_inline int peer_is_busy(const struct socket *s)
{
	enum standing standing = request_standing(s->serving);

	return peer_is_pending(s) || standing_is_active(standing);
}

/* Leave a request for whoever reads from this socket next; 0: it is not known which. */
static __always_inline void peer_leave(struct socket *s, __u64 request)
{
	s->own.arrival[s->own.end & (SOCKET_ARRIVALS - 1)] = (struct arrival){.request = request};
	__sync_fetch_and_add(&s->own.end, 1);
}

/*
 * Bytes are sent to the server side of a unix connection, `s` being that side. Nothing tells
 * where a call ends whose request is not known: such a connection is not believed again.
 */
static __always_inline void engine_peer_send(struct socket *s, const struct actor *a)
{
	struct process *p = process_lookup(&a->key.tgid);
	struct worker *w = worker_lookup(&a->key);
	struct verdict v;

	if ((s->flags & SOCKET_OPAQUE) || peer_is_busy(s))
		return;
	v = decide(w, p, a, s, 1);
	learn_tasks(p, w, &v, 1);
	learn_direct(&v, w, p);
	if (p)
		learn_prompt(p, &v);
	s->flags |= SOCKET_SERVER | SOCKET_PEER;
	if (v.request)
		request_add(v.request, STATE_CALL);
	else
		s->flags |= SOCKET_OPAQUE;
	peer_leave(s, v.request);
}

/* Bytes are sent back to its client side, `s` being that side, by the worker of a request. */
static __always_inline void engine_peer_respond(struct socket *s, const struct actor *a)
{
	const struct worker *w = worker_lookup(&a->key);
	struct request *r = request_lookup(w ? worker_only(w) : 0);
	struct verdict v = {.evidence = EVIDENCE_PEER};

	if (!r || !(r->flags & REQUEST_PEER) || !request_set(r, STATE_RESPONDING))
		return;
	v.request = *(const __u64 *)r->parent_id;
	s->flags |= SOCKET_CLIENT | SOCKET_PEER;
	call_fill(&s->call[s->calls_end & (SOCKET_CALLS - 1)], &v, a, 0, 0);
	__sync_fetch_and_add(&s->calls_end, 1);
}

/* The receiver's request: in the trace of the sender's, under it. 0; -1: that one is over. */
static __always_inline int peer_request_fill(struct request *r, const struct request *parent,
					     __u64 parent_id, __u64 id, __u64 now_ns)
{
	if (request_copy_context(parent_id, &r->context))
		return -1;
	__builtin_memcpy(r->parent_id, r->context.span_id, sizeof(r->parent_id));
	__builtin_memcpy(r->context.span_id, &id, sizeof(id));
	r->arrived_ns = now_ns;
	r->netns = parent->netns;
	r->request_id = parent->request_id;
	r->from = parent->from;
	r->flags = REQUEST_PEER;
	return request_is_over(parent, parent_id) ? -1 : 0;
}

/* Ids of requests that are over when something is read that was left: engine_peer_over(). */
#define PEER_OVER 2

/*
 * One of the requests that are over when `a` reads what was left for `parent_id`; 0: none. The
 * first one is what was sent over this socket before. The second one: who asks another process is
 * done with the last one that it has asked; and who reads for a request that is not known (0) is
 * not at the one any more that it was asked for before.
 */
static __always_inline __u64 engine_peer_over(const struct socket *s, __u64 parent_id,
					      const struct actor *a, __u32 number)
{
	const struct request *parent, *r;
	const struct worker *w;
	__u64 own;

	if (!number)
		return s->serving;
	parent = request_lookup(parent_id);
	if (parent)
		return parent->peer;
	w = worker_lookup(&a->key);
	own = w ? worker_only_inlined(w) : 0;
	r = request_lookup(own);
	return r && (r->flags & REQUEST_PEER) ? own : 0;
}

/*
 * What the sender left is read; engine_peer_over() has been asked, and those are over. `id`: a
 * fresh one.
 */
static __always_inline void engine_peer_take(struct socket *s, __u64 parent_id, __u64 id,
					     const struct actor *a, __u64 now_ns)
{
	struct request *parent = request_lookup(parent_id), *r;

	s->serving = 0;
	r = parent && !rule_is_off(RULE_BY(EVIDENCE_PEER)) ? request_make(id) : NULL;
	if (!r)
		return;
	if (peer_request_fill(r, parent, parent_id, id, now_ns)) {
		request_delete(id);
		return;
	}
	parent->peer = id;
	s->serving = id;
	engine_take(id, a, now_ns);
}

#endif
