// SPDX-License-Identifier: GPL-2.0-only
/*
 * An iterator over the sockets that are followed, in all network namespaces: what was put down
 * about each, and what the kernel knows of it. Loaded while somebody asks, and then only.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "record/ends.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* A socket that was not accepted yet, or was closed by its program, has no file. */
static __always_inline __u64 inode_of(struct sock *sk)
{
	struct socket___kernel *socket = sk->sk_socket;
	struct file *file = socket ? socket->file : NULL;
	struct inode *inode = file ? file->f_inode : NULL;

	return inode ? inode->i_ino : 0;
}

static __always_inline void read_kernel(struct record_entry *e, struct sock *sk)
{
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	e->state = sk->__sk_common.skc_state;
	e->inode = inode_of(sk);
	if (!tcp)
		return;
	e->bytes_in = tcp->bytes_received;
	e->bytes_out = tcp->bytes_sent - tcp->bytes_retrans;
}

/* What the connection is used for, at present or until now. */
static __always_inline void read_use(struct record_entry *e, const struct socket *s)
{
	struct call last;

	if (!(s->flags & SOCKET_CLIENT)) {
		e->exchanges = s->taken;
		e->request = s->serving;
		return;
	}
	e->exchanges = s->calls_end;
	/* The verifier lets nobody index the value of an iterator by a variable. */
	if (!s->calls_end ||
	    bpf_probe_read_kernel(&last, sizeof(last),
				  &s->call[(s->calls_end - 1) & (SOCKET_CALLS - 1)]))
		return;
	e->request = last.request;
	e->evidence = last.evidence;
	e->veto = last.veto;
	e->outstanding = last.outstanding;
}

SEC("iter/bpf_sk_storage_map")
int record_sockets(struct bpf_iter__bpf_sk_storage_map *ctx)
{
	const struct socket *s = ctx->value;
	struct sock *sk = ctx->sk;
	struct record_entry e = {};

	if (!s || !is_alive(sk))
		return 0;
	read_ends(&e.ends, sk);
	read_kernel(&e, sk);
	e.flags = s->flags;
	read_use(&e, s);
	e.record = s->record;
	bpf_seq_write(ctx->meta->seq, &e, sizeof(e));
	return 0;
}
