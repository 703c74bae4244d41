// SPDX-License-Identifier: GPL-2.0-only
/* Unix stream connections: whose request travels from one process of the host to another. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "engine/unix_name.h"
#include "probes/peer.bpf.h"
#include "probes/probe.bpf.h"

#define FAMILY_UNIX 1
#define TYPE_STREAM 1
#define FLAG_PEEK   2 /* MSG_PEEK */
#define ALLOWED     1 /* what a program of cgroups says to let pass */

VERIFIED_ALONE int step_peer_send(struct socket *s, const struct actor *by)
{
	struct actor a;

	if (!s || !by)
		return 0;
	a = *by;
	engine_peer_send(s, &a);
	return 0;
}

VERIFIED_ALONE int step_peer_respond(struct socket *s, const struct actor *by)
{
	struct actor a;

	if (!s || !by)
		return 0;
	a = *by;
	engine_peer_respond(s, &a);
	return 0;
}

static __always_inline int is_unix_stream(const struct sock *sk)
{
	return sk->__sk_common.skc_family == FAMILY_UNIX && sk->sk_type == TYPE_STREAM;
}

static __always_inline int is_accepted(struct sock *sk)
{
	struct unix_sock *unix_sk = bpf_skc_to_unix_sock(sk);

	return unix_sk && unix_sk->addr;
}

/* Is it to a service of the system's own, as of where users are known, or messages logged? */
static __always_inline int goes_to_system(struct bpf_sock_addr *to)
{
	const struct bpf_sock_addr_kern *kernel = bpf_cast_to_kern_ctx(to);
	char name[UNIX_NAME_LENGTH] = {};

	bpf_probe_read_kernel(name, sizeof(name), kernel->uaddr->sun_path);
	return unix_name_is_system(name);
}

/*
 * A unix socket is about to be connected. The hooks below see all sockets of the node, each packet
 * and each read of them: they are attached when a program that takes requests may need them.
 */
SEC("cgroup/connect_unix")
int probe_unix_connect(struct bpf_sock_addr *to)
{
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (to->type == TYPE_STREAM && runtime_lookup(tgid) && !goes_to_system(to) &&
	    probe_is_active())
		node_wants(NODE_UNIX);
	return ALLOWED;
}

/*
 * Bytes were put into the queue of `to`, by the thread that sends them. (Of TCP sockets this is
 * an interrupt.) The side that was accepted has the address of its listener; the other has none.
 */
static __always_inline int unix_sent(struct sock *to)
{
	struct socket *s;
	struct actor a;

	if (!is_unix_stream(to))
		return 0;
	worker_current(&a);
	if (!process_lookup(&a.key.tgid) || !probe_is_active())
		return 0;
	s = bpf_sk_storage_get(&sockets, to, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!s)
		return 0;
	worker_calling(&a, to, s);
	if (is_accepted(to))
		step_peer_send(s, &a);
	else
		step_peer_respond(s, &a);
	return 0;
}

/* `length` bytes were read from a socket of any kind, or it failed. */
static __always_inline int unix_received(struct sock *sk, int length, int flags)
{
	const struct task_struct *task;
	struct worker *w;
	struct socket *s;
	struct actor a;
	__u32 first;

	if (sk->__sk_common.skc_family != FAMILY_UNIX || length <= 0 || (flags & FLAG_PEEK))
		return 0;
	s = bpf_sk_storage_get(&sockets, sk, NULL, 0);
	if (!s || !probe_is_active())
		return 0;
	task = bpf_get_current_task_btf();
	if (s->flags & SOCKET_CLIENT) {
		w = worker_reading_on(&a, task, sk);
		step_answer(s, &a, w);
	} else if (peer_is_pending(s)) {
		worker_reading(&a, task, sk);
		first = s->own.first & (SOCKET_ARRIVALS - 1);
		step_peer_take(s, s->own.arrival[first].request, &a);
		s->own.first++;
	}
	return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(probe_unix_send, struct sock *to)
{
	return unix_sent(to);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(probe_unix_recv, struct sock *sk, int length, int flags)
{
	return unix_received(sk, length, flags);
}

/* These tracepoints came with Linux 6.3. Before it: what sockets have done where they stand now. */
SEC("fentry/sock_def_readable")
int BPF_PROG(probe_unix_send_fentry, struct sock *to)
{
	return unix_sent(to);
}

SEC("fexit/unix_stream_recvmsg")
int BPF_PROG(probe_unix_recv_fexit, struct socket___kernel *socket, void *message, __u64 size,
	     int flags, int length)
{
	return unix_received(socket->sk, length, flags);
}
