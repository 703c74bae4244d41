/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections whose server is local, as both hooks see them: the ring of requests that wait for
 * their response, and what happens when a connection is over or out of step.
 *
 * Nothing of such a connection is ever changed.
 */
#ifndef CTXPROP_TC_SERVING_BPF_H
#define CTXPROP_TC_SERVING_BPF_H

#include "20-flow.bpf.h"

#define SERVING_OPEN_MASK (SERVING_OPEN_MAX - 1)

static __always_inline struct serving_open *serving_slot(struct serving *s, __u32 index)
{
	return &s->open[index & SERVING_OPEN_MASK];
}

VERIFIED_ALONE int serving_request_ended(__u64 id)
{
	context_request_ended(id);
	return 0;
}

/* The request of a slot is over. Both sides may find that at once: only one of them takes it. */
static __always_inline void serving_close(struct serving *s, __u32 index, __u32 reason)
{
	__u64 id = __sync_lock_test_and_set(&serving_slot(s, index)->request, 0);

	if (!id)
		return;
	serving_request_ended(id);
	count(reason);
}

/* As a callback of bpf_loop(). */
static long serving_cut_step(__u32 i, struct serving **s)
{
	serving_close(*s, i, REASON_SERVED_CUT);
	return 0;
}

/* No response that is still to come will be seen: all open requests are over. */
VERIFIED_ALONE int serving_cut(struct flow *f)
{
	struct serving *s;

	if (!f)
		return 0;
	s = &f->serving;
	bpf_loop(SERVING_OPEN_MAX, serving_cut_step, &s, 0);
	if (s->span)
		request_delete(s->span); /* of a head that has not ended */
	s->span = 0;
	return 0;
}

/* Never read again. */
static __always_inline void serving_make_opaque(struct flow *f, __u32 reason)
{
	serving_cut(f);
	flow_make_opaque(f, reason);
}

/* Out of step: nothing is read until a place is found where it can be joined again. */
static __always_inline void serving_lose(struct flow *f)
{
	serving_cut(f);
	f->flags &= ~(FLOW_CANDIDATE | FLOW_ANSWERED);
	f->flags |= FLOW_LEARN;
	count(REASON_SERVED_LOST);
}

static __always_inline void serving_delete(const struct flow_key *key, struct flow *f)
{
	serving_cut(f);
	flow_delete(key);
}

/* Begin to read, with this byte of the peer and this byte of ours. */
static __always_inline void serving_begin(struct flow *f, __u32 request_next, __u32 response_next)
{
	struct serving *s = &f->serving;

	http1_init(&s->requests, HTTP1_REQUEST);
	http1_init(&s->responses, HTTP1_RESPONSE);
	s->request_next = request_next;
	s->response_next = response_next;
	s->open_first = s->delivered = s->open_end;
	s->parent.len = s->parent.more = 0;
	f->id = (struct request_id){};
	f->flags &= ~(FLOW_LEARN | FLOW_CANDIDATE | FLOW_ANSWERED);
}

/* Put an arrival into a socket's ring, for the thread that will read the request. */
static __always_inline void serving_hand_over(struct socket *socket,
					      const struct serving_open *open)
{
	__u32 end = socket->arrivals_end, first = *(volatile __u32 *)&socket->arrivals_first;
	struct arrival *to = &socket->arrival[end & (SOCKET_ARRIVALS - 1)];

	if (end - first >= SOCKET_ARRIVALS) {
		count(REASON_SERVED_UNBOUND);
		return;
	}
	to->request = open->request;
	to->seq = open->seq;
	/* A full barrier: the arrival is there before anyone can count it. */
	__sync_lock_test_and_set(&socket->arrivals_end, end + 1);
}

struct serving_delivery {
	struct serving *serving;
	struct socket *socket;
};

/* The next request that is not yet delivered, as a callback of bpf_loop(). */
static long serving_deliver_step(__u32 i, struct serving_delivery *d)
{
	struct serving *s = d->serving;

	(void)i;
	if (s->delivered == s->open_end)
		return 1;
	serving_hand_over(d->socket, serving_slot(s, s->delivered));
	s->delivered++;
	return 0;
}

/* Tell the socket of all requests that it has not been told of. `sk`: a full socket. */
static __always_inline int serving_deliver(struct serving *s, struct bpf_sock *sk)
{
	struct serving_delivery d = {.serving = s};

	d.socket = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!d.socket)
		return -1;
	if (d.socket->flags &
	    SOCKET_OLDER) /* it was taken for a client's if its listener is gone */
		d.socket->flags &= ~SOCKET_CLIENT;
	bpf_loop(SERVING_OPEN_MAX, serving_deliver_step, &d, 0);
	return 0;
}

#endif
