/* SPDX-License-Identifier: GPL-2.0-only */
/* TCP connections between two processes of this host. */
#ifndef CTXPROP_PROBES_PEER_BPF_H
#define CTXPROP_PROBES_PEER_BPF_H

#include <bpf/bpf_endian.h>
#include "engine/peers.bpf.h"
#include "probes/kernel.bpf.h"
#include "probes/step.bpf.h"
#include "engine/peer.h"

#define FAMILY_IPV4   2
#define FAMILY_IPV6   10
#define LOOPBACK_IPV4 127

/* The ends of a connection, as this side sends. */
struct ends {
	__u64 own[2], peer[2];
	__be16 own_port, peer_port;
};

/* ::ffff:a.b.c.d */
static __always_inline void ends_mapped(__u64 *to, __be32 address)
{
	to[0] = 0;
	to[1] = bpf_cpu_to_be64(0x0000ffff00000000) | (__u64)address << 32;
}

/* Does the connection stay on this host? Fills in its ends if so. */
static __always_inline int ends_local(const struct sock *sk, struct ends *ret)
{
	const struct sock_common *c = &sk->__sk_common;
	__be32 own = c->skc_rcv_saddr, peer = c->skc_daddr;

	if (c->skc_family == FAMILY_IPV4) {
		if ((peer & 0xff) != LOOPBACK_IPV4 && peer != own)
			return 0;
		ends_mapped(ret->own, own);
		ends_mapped(ret->peer, peer);
	} else if (c->skc_family == FAMILY_IPV6) {
		bpf_core_read(ret->own, sizeof(ret->own), &c->skc_v6_rcv_saddr);
		bpf_core_read(ret->peer, sizeof(ret->peer), &c->skc_v6_daddr);
		if (ret->own[0] != ret->peer[0] || ret->own[1] != ret->peer[1])
			return 0;
	} else {
		return 0;
	}
	ret->own_port = bpf_htons(c->skc_num);
	ret->peer_port = c->skc_dport;
	return 1;
}

static __always_inline void ends_key(struct flow_key *key, const struct sock *sk)
{
	__builtin_memset(key, 0, sizeof(*key));
	key->netns = (__u32)sk->__sk_common.skc_net.net->net_cookie;
}

/* The client side has begun a call: leave its request to the other side. (Not inlined, for its
 * room.) */
static __noinline void peer_call(const struct sock *sk, const struct socket *s)
{
	const struct call *c = &s->call[(s->calls_end - 1) & (SOCKET_CALLS - 1)];
	struct flow_key key;
	struct ends ends;

	if ((!c->request && !c->veto) || !ends_local(sk, &ends))
		return;
	ends_key(&key, sk);
	__builtin_memcpy(key.src, ends.own, sizeof(key.src));
	__builtin_memcpy(key.dst, ends.peer, sizeof(key.dst));
	key.sport = ends.own_port;
	key.dport = ends.peer_port;
	peers_leave(&key, c->request);
}

/* Something is read from a connection that serves no HTTP: was a request left for it? */
static __always_inline int peer_left(const struct sock *sk, __u64 *ret_request)
{
	struct flow_key key;
	struct ends ends;

	if (!ends_local(sk, &ends))
		return 0;
	ends_key(&key, sk);
	__builtin_memcpy(key.src, ends.peer, sizeof(key.src));
	__builtin_memcpy(key.dst, ends.own, sizeof(key.dst));
	key.sport = ends.peer_port;
	key.dport = ends.own_port;
	return peers_take(&key, ret_request);
}

/* What the n-th draw gives; 0: its place is taken. */
static __always_inline __u64 peer_draw(__u32 n)
{
	__u64 id = (__u64)bpf_get_prandom_u32() << 32 | bpf_get_prandom_u32();
	const struct request *there;

	id = request_drawn(id, n);
	there = request_at(id);
	return there && !there->id ? id : 0;
}

/* An id for a request; 0: there is no room. (Linux 6.1 does not take the loop made of a loop.) */
static __always_inline __u64 peer_id(void)
{
	return peer_draw(0) ?: peer_draw(4) ?: peer_draw(8) ?: peer_draw(12) ?: peer_draw(16);
}

VERIFIED_ALONE int step_peer_take(struct socket *s, __u64 parent, const struct actor *by)
{
	__u64 id = peer_id(), over;
	struct actor a;

	if (!s || !by)
		return 0;
	a = *by;
#pragma clang loop unroll(disable) /* the end of a request is long */
	for (__u32 i = 0; i < PEER_OVER; i++) {
		over = engine_peer_over(s, parent, &a, i);
		engine_end(over);
		if (over)
			request_delete(over);
	}
	engine_peer_take(s, parent, id, &a, bpf_ktime_get_ns());
	tracestate_copy(parent, s->serving);
	return 0;
}

#endif
