/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Beside stage 4: why is this request sent? The probes have put down, in the storage of the
 * sending socket, which incoming request it belongs to, or why that is not known
 * (engine/model.h).
 */
#ifndef CTXPROP_TC_CAUSE_BPF_H
#define CTXPROP_TC_CAUSE_BPF_H

#include "30-frame.bpf.h"
#include "engine/named.h"

_Static_assert((SOCKET_CALLS & (SOCKET_CALLS - 1)) == 0, "indices are masked");

/* The number of the first byte of the head whose blank line is at payload offset `blank`. */
static __always_inline __u32 cause_head_start(const struct packet *p,
					      const struct protocol *protocol, __u32 blank)
{
	return p->seq + blank - protocol_before_blank(protocol);
}

static __always_inline struct socket *cause_socket(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	return sk ? bpf_sk_storage_get(&sockets, sk, 0, 0) : NULL;
}

/* The call that began with byte `seq` on the sending socket; NULL: none that is known. */
static __always_inline struct call *cause_call(struct socket *socket, __u32 seq)
{
	__u32 end;

	if (!socket)
		return NULL;
	end = socket->calls_end;
	for (__u32 i = 1; i <= SOCKET_CALLS; i++) {
		struct call *call = &socket->call[(end - i) & (SOCKET_CALLS - 1)];

		if (i > end)
			break;
		if (call->seq == seq)
			return call;
	}
	return NULL;
}

/*
 * Answers on the connection may be for several requests from now on (engine/shared.h). `how`:
 * SOCKET_SHARED, and SOCKET_ASKS if a thread that sends there waits for an answer.
 */
static __always_inline void cause_shares(struct socket *socket, __u32 how)
{
	if (socket && (socket->flags & SOCKET_CLIENT))
		__sync_fetch_and_or(&socket->flags, how);
}

/* The head of a call has an x-request-id. */
VERIFIED_ALONE int cause_named(struct call *call, __u64 number)
{
	if (call)
		engine_named(call, number);
	return 0;
}

/*
 * The head that begins with byte `seq` has a traceparent: its value is the `n` bytes at `off` of
 * the packet. A value of which this is only a piece is not used.
 */
VERIFIED_ALONE int cause_owned(struct __sk_buff *skb, __u32 seq, __u32 off, __u32 n)
{
	struct scratch *s = scratch_get();
	struct call *call = cause_call(cause_socket(skb), seq);
	struct traceparent_text *text;

	if (!s || !call || !n)
		return 0;
	text = &s->own;
	text->more = n > TRACEPARENT_TEXT_MAX;
	if (n > TRACEPARENT_TEXT_MAX)
		n = TRACEPARENT_TEXT_MAX;
	text->len = n;
	if (!size_within(&n, TRACEPARENT_TEXT_MAX) || bpf_skb_load_bytes(skb, off, text->byte, n))
		return 0;
	if (!traceparent_read(text, &s->parent))
		engine_owned(call, (const __u64 *)s->parent.trace_id);
	return 0;
}

/*
 * Leave in scratch.call what is known about the call that began with byte `seq`. If none did (a
 * second request was sent behind an unanswered one) nothing is known, and answers on the connection
 * may be for either request. `number` is that of the head's x-request-id, or 0.
 */
static __always_inline void cause_find(struct __sk_buff *skb, struct scratch *s, __u32 seq,
				       __u64 number)
{
	struct socket *socket = cause_socket(skb);
	struct call *call = cause_call(socket, seq);

	if (!call) {
		cause_shares(socket, SOCKET_SHARED);
		__builtin_memset(&s->call, 0, sizeof(s->call));
		return;
	}
	call->is_http = 1;
	if (number)
		cause_named(call, number);
	s->call = *call;
}

/* Is the request part of a trace that came in? */
static __always_inline int cause_is_known(const struct call *call)
{
	const __u64 *trace = (const __u64 *)call->cause.trace_id;

	return call->evidence != EVIDENCE_NONE && (trace[0] | trace[1]);
}

/* A request has a traceparent of its own: does it fit what was believed of it? */
static __always_inline void cause_count_own(const struct call *call)
{
	count(REASON_EVIDENCE_OWN);
	if (call->veto == VETO_DISAGREE)
		count(REASON_VETO_DISAGREE);
}

/* A request was sent on for this cause, or for none. */
static __always_inline void cause_count(const struct call *call)
{
	__u32 evidence = cause_is_known(call) ? call->evidence : EVIDENCE_NONE;

	if (evidence < EVIDENCE_COUNT)
		count(REASON_EVIDENCE_NONE + evidence);
	if (evidence == EVIDENCE_NONE && call->veto && call->veto < VETO_COUNT)
		count(REASON_VETO_NONE + call->veto);
}

#endif
