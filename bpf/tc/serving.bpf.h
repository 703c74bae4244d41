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
#include "record.bpf.h"
#include "streams.bpf.h"

#define SERVING_OPEN_MASK (SERVING_OPEN_MAX - 1)

static __always_inline struct serving_open *serving_slot(struct serving *s, __u32 index)
{
	return &s->open[index & SERVING_OPEN_MASK];
}

/* The request of a slot is over. Both sides may find that at once: only one of them takes it. */
static __always_inline void serving_close(struct serving *s, __u32 index, __u32 reason)
{
	__u64 id = __sync_lock_test_and_set(&serving_slot(s, index)->request, 0);

	if (!id)
		return;
	record_served_end(s, id, reason == REASON_SERVED_ENDED ? RECORD_ANSWERED : RECORD_CLOSED);
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
	if (f->flags & FLOW_HTTP2)
		streams_end(key, f);
	flow_delete(key, f);
}

/* Begin to read, with this byte of the peer and this byte of ours. */
static __always_inline void serving_begin(struct flow *f, __u32 request_next, __u32 response_next)
{
	struct serving *s = &f->serving;

	protocol_begin(&s->requests, PROTOCOL_REQUEST);
	protocol_begin(&s->responses, PROTOCOL_RESPONSE);
	s->request_next = request_next;
	s->response_next = response_next;
	s->open_first = s->delivered = s->open_end;
	s->parent.len = s->parent.more = 0;
	s->client_closed = SERVING_CLIENT_THERE;
	f->id = (struct request_id){};
	f->flags &= ~(FLOW_LEARN | FLOW_CANDIDATE | FLOW_ANSWERED);
}

/* Put an arrival into the inbox that has this id, for the thread that will read the request. */
static __always_inline void serving_hand_over(struct inbox *box, __u64 id,
					      const struct serving_open *open)
{
	__u32 end = box->end, first = *(volatile __u32 *)&box->first;
	struct arrival *to = &box->arrival[end & (SOCKET_ARRIVALS - 1)];

	if (end - first >= SOCKET_ARRIVALS) {
		count(REASON_SERVED_UNBOUND);
		return;
	}
	to->request = open->request;
	to->seq = open->seq;
	to->inbox = (__u32)id;
	/* A full barrier: the arrival is there before anyone can count it. */
	__sync_lock_test_and_set(&box->end, end + 1);
}

struct serving_delivery {
	struct serving *serving;
	struct inbox *box;
	__u64 id; /* of the inbox */
};

/* The next request that is not yet delivered, as a callback of bpf_loop(). */
static long serving_deliver_step(__u32 i, struct serving_delivery *d)
{
	struct serving *s = d->serving;

	(void)i;
	if (s->delivered == s->open_end)
		return 1;
	serving_hand_over(d->box, d->id, serving_slot(s, s->delivered));
	s->delivered++;
	return 0;
}

/* Tell the owner of an inbox of all requests that it has not been told of. */
static __always_inline void serving_deliver_to(struct serving *s, struct inbox *box, __u64 id)
{
	struct serving_delivery d = {.serving = s, .box = box, .id = id};

	/* Mostly it is one. */
	if (s->delivered + 1 != s->open_end) {
		bpf_loop(SERVING_OPEN_MAX, serving_deliver_step, &d, 0);
		return;
	}
	serving_hand_over(box, id, serving_slot(s, s->delivered));
	s->delivered++;
}

/* A new inbox. Returns its id, or INBOX_OWN: no place was found. */
static __always_inline __u64 serving_draw_inbox(void)
{
	for (int i = 0; i < 4; i++) {
		__u64 random = (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
		__u64 id = inbox_make(inbox_id(random));

		if (id != INBOX_OWN)
			return id;
	}
	return INBOX_OWN;
}

/* The id of a socket's inbox, which is made if need be. Both sides may do that at once. */
static __always_inline __u64 serving_inbox(struct socket *socket)
{
	__u64 now = socket->inbox, made, before;

	if (now == INBOX_OWN || inbox_lookup(now))
		return now;
	made = serving_draw_inbox();
	before = __sync_val_compare_and_swap(&socket->inbox, now, made);
	if (before == now)
		return made;
	inbox_free(made);
	return before;
}

/* Tell the socket of all requests that it has not been told of. `sk`: a full socket. */
static __always_inline int serving_deliver(struct serving *s, struct bpf_sock *sk)
{
	struct socket *socket = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	struct inbox *box;

	if (!socket)
		return -1;
	/* It was taken for a client's if its listener is gone. */
	if (socket->flags & SOCKET_OLDER)
		socket->flags &= ~SOCKET_CLIENT;
	s->inbox = serving_inbox(socket);
	box = s->inbox == INBOX_OWN ? &socket->own : inbox_lookup(s->inbox);
	if (!box)
		return -1;
	serving_deliver_to(s, box, s->inbox);
	return 0;
}

#endif
