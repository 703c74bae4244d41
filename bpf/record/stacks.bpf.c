// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stacks of threads that send on followed sockets. Loaded while somebody asks, and then only:
 * at other times it costs nothing.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "record/ends.bpf.h"
#include "probes/record.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The node's, see engine/maps.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct record_stack);
} stacks SEC(".maps");

/* Network namespace (low half of its cookie) that is asked for; 0: all. */
const volatile __u32 wanted_netns = 0;

static __always_inline int gather(void *ctx, struct sock *sk)
{
	struct record_stack *stack;
	long size;

	if (wanted_netns && (__u32)sk->__sk_common.skc_net.net->net_cookie != wanted_netns)
		return 0;
	if (!bpf_sk_storage_get(&sockets, sk, NULL, 0))
		return 0;
	stack = bpf_sk_storage_get(&stacks, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!stack)
		return 0;
	record_thread(&stack->who, bpf_get_current_task_btf());
	size = bpf_get_stack(ctx, stack->address, sizeof(stack->address), BPF_F_USER_STACK);
	stack->depth = size > 0 ? size / sizeof(stack->address[0]) : 0;
	return 0;
}

/* Since Linux 6.16. */
SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(gather_tp, struct sock *sk)
{
	return gather(ctx, sk);
}

SEC("fentry/tcp_sendmsg_locked")
int BPF_PROG(gather_fentry, struct sock *sk)
{
	return gather(ctx, sk);
}

SEC("iter/bpf_sk_storage_map")
int record_stacks(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	void *stack = ctx->value;
	struct sock *sk = ctx->sk;
	struct record_ends ends = {};

	if (!stack || !is_alive(sk))
		return 0;
	read_ends(&ends, sk);
	bpf_seq_write(ctx->meta->seq, &ends, sizeof(ends));
	bpf_seq_write(ctx->meta->seq, stack, sizeof(struct record_stack));
	return 0;
}
