// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections that were there before the probes: an iterator over the TCP sockets of a network
 * namespace, run once by each daemon that starts. Nobody has seen who opened them. One whose own
 * port is listened at was accepted (listeners come first); the others were made from here.
 */
#include <linux/bpf.h>
#include <linux/in.h>
#include <bpf/bpf_helpers.h>
#include "engine/maps.bpf.h"
#include "probes/kernel.bpf.h"

#define WORD_BITS 64
#define WORDS     (65536 / WORD_BITS)

/* As the kernel numbers them. */
enum {
	STATE_ESTABLISHED = 1,
	STATE_CLOSE_WAIT = 8,
	STATE_LISTEN = 10,
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct bpf_iter_meta {
	__u64 seq_num;
};

struct bpf_iter__tcp {
	struct bpf_iter_meta *meta;
	struct sock_common *sk_common;
};

#pragma clang attribute pop

/* Ports that are listened at, a bit each. Whoever reads the iterator has the node's lock. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WORDS);
	__type(key, __u32);
	__type(value, __u64);
} listening SEC(".maps");

static long forget_word(__u32 index, void *data)
{
	__u64 *word = bpf_map_lookup_elem(&listening, &index);

	(void)data;
	if (word)
		*word = 0;
	return 0;
}

static __always_inline __u64 *word_of(__u16 port)
{
	__u32 index = port / WORD_BITS;

	return bpf_map_lookup_elem(&listening, &index);
}

SEC("iter/tcp")
int probe_older(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	struct tcp_sock *tcp;
	struct socket *s;
	__u64 *word, bit;

	if (!ctx->meta->seq_num)
		bpf_loop(WORDS, forget_word, NULL, 0);
	if (!common)
		return 0;
	word = word_of(common->skc_num);
	bit = 1ULL << (common->skc_num % WORD_BITS);
	if (!word)
		return 0;
	if (common->skc_state == STATE_LISTEN)
		*word |= bit;
	if (common->skc_state != STATE_ESTABLISHED && common->skc_state != STATE_CLOSE_WAIT)
		return 0;
	tcp = bpf_skc_to_tcp_sock(common);
	if (!tcp || bpf_sk_storage_get(&sockets, tcp, NULL, 0))
		return 0;
	s = bpf_sk_storage_get(&sockets, tcp, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (s)
		s->flags = SOCKET_OLDER | (*word & bit ? SOCKET_SERVER : SOCKET_CLIENT);
	return 0;
}
