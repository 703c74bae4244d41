/* SPDX-License-Identifier: GPL-2.0-only */
/* From a socket, of which the address is known, to what the packet programs know it by. */
#ifndef CTXPROP_PROBES_CONNECTION_BPF_H
#define CTXPROP_PROBES_CONNECTION_BPF_H

#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "abi.h"
#include "probes/kernel.bpf.h"

#ifndef FAMILY_IPV6
#define FAMILY_IPV6 10 /* AF_INET6 */
#endif

/* An IPv4 address as flows have it. */
static __always_inline void connection_address(__u8 *ret_address, __u32 address)
{
	((__u64 *)ret_address)[0] = 0;
	((__u32 *)ret_address)[2] = bpf_htonl(0xffff);
	((__u32 *)ret_address)[3] = address;
}

/* The flow of what the socket sends. Returns 0; -1: it is not of TCP. */
static __always_inline int connection_key(__u64 socket, struct flow_key *ret_key)
{
	const struct sock *sk = (const struct sock *)socket;
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return -1;
	if (family == FAMILY_IPV6) {
		BPF_CORE_READ_INTO((struct in6_addr___kernel *)ret_key->src, sk,
				   __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO((struct in6_addr___kernel *)ret_key->dst, sk,
				   __sk_common.skc_v6_daddr);
	} else {
		connection_address(ret_key->src, BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr));
		connection_address(ret_key->dst, BPF_CORE_READ(sk, __sk_common.skc_daddr));
	}
	ret_key->sport = bpf_htons(BPF_CORE_READ(sk, __sk_common.skc_num));
	ret_key->dport = BPF_CORE_READ(sk, __sk_common.skc_dport);
	ret_key->netns = (__u32)BPF_CORE_READ(sk, __sk_common.skc_net.net, net_cookie);
	return 0;
}

/* Its cookie; 0: nobody has asked for that yet. */
static __always_inline __u64 connection_cookie(__u64 socket)
{
	return BPF_CORE_READ((const struct sock *)socket, __sk_common.skc_cookie.counter);
}

#endif
