/* SPDX-License-Identifier: GPL-2.0-only */
/* What the iterators over sockets share: their context, and which socket they stand at. */
#ifndef CTXPROP_RECORD_ENDS_BPF_H
#define CTXPROP_RECORD_ENDS_BPF_H

#include <linux/bpf.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include "engine/model.h"
#include "probes/kernel.bpf.h"

#define FAMILY_IPV6 10 /* AF_INET6 */
#define STATE_CLOSE 7  /* as the kernel numbers them */

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct seq_file;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__bpf_sk_storage_map {
	struct bpf_iter_meta *meta;
	struct bpf_map *map;
	struct sock *sk;
	void *value;
};

#pragma clang attribute pop

/* ::ffff:a.b.c.d, as in struct flow_key. */
static __always_inline void map_ipv4(__u8 to[16], __u32 address)
{
	to[10] = to[11] = 0xff;
	__builtin_memcpy(to + 12, &address, sizeof(address));
}

static __always_inline void read_ends(struct record_ends *e, struct sock *sk)
{
	if (sk->__sk_common.skc_family == FAMILY_IPV6) {
		bpf_probe_read_kernel(e->local, sizeof(e->local),
				      &sk->__sk_common.skc_v6_rcv_saddr);
		bpf_probe_read_kernel(e->remote, sizeof(e->remote), &sk->__sk_common.skc_v6_daddr);
	} else {
		map_ipv4(e->local, sk->__sk_common.skc_rcv_saddr);
		map_ipv4(e->remote, sk->__sk_common.skc_daddr);
	}
	e->local_port = bpf_htons(sk->__sk_common.skc_num);
	e->remote_port = sk->__sk_common.skc_dport;
	e->netns = sk->__sk_common.skc_net.net->net_cookie;
}

/* Is there still a connection? */
static __always_inline int is_alive(struct sock *sk)
{
	return sk && sk->__sk_common.skc_state != STATE_CLOSE;
}

#endif
