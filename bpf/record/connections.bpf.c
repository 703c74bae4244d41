// SPDX-License-Identifier: GPL-2.0-only
/*
 * TCP connections of the network namespaces that a daemon attends, told when they end
 * (RECORD_CONNECTION). Loaded by each daemon that keeps them, over its own ring; without a reader
 * it is not there.
 */
#include <linux/bpf.h>
#include <linux/errno.h>
#include <linux/in.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>
#include "abi.h"
#include "record/ends.bpf.h"
#include "records.h"

char LICENSE[] SEC("license") = "GPL";

/* States as the kernel numbers them; STATE_CLOSE stands in ends.bpf.h. */
enum {
	STATE_ESTABLISHED = 1,
	STATE_SYN_SENT = 2,
	STATE_SYN_RECV = 3,
	STATE_FIN_WAIT1 = 4,
	STATE_CLOSE_WAIT = 8,
	STATE_LAST_ACK = 9,
	STATE_LISTEN = 10,
};

/* What the kernel calls it; the number is that of the running one. */
enum sock_flags___kernel { SOCK_DONE = 1 };

/* The daemon's, see tc/record.bpf.h, tc/attended.bpf.h and tc/00-scratch.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RECORDS_SIZE);
} records SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct recording);
} recording SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct attended);
} attended SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counters SEC(".maps");

/* What is known of a connection before it ends. */
struct beginning {
	__u64 opened_ns, established_ns; /* CLOCK_BOOTTIME; 0: not seen */
	__u32 tgid, tid;
	__u32 first_out, first_in;
	__u32 side; /* enum connection_side */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct beginning);
} beginnings SEC(".maps");

/* The one network namespace (low half of its cookie); 0: those of the map `attended`. */
const volatile __u32 only_netns = 0;

static __always_inline int is_attended(__u32 netns)
{
	__u32 zero = 0, id = netns % ATTENDED_MAX;
	const struct attended *a;

	if (only_netns)
		return netns == only_netns;
	a = bpf_map_lookup_elem(&attended, &zero);
	return a && a->namespace[id / 64] >> id % 64 & 1;
}

static __always_inline int is_wanted(struct sock *sk)
{
	__u32 zero = 0;
	const struct recording *r;

	if (sk->sk_protocol != IPPROTO_TCP ||
	    !is_attended((__u32)sk->__sk_common.skc_net.net->net_cookie))
		return 0;
	r = bpf_map_lookup_elem(&recording, &zero);
	return r && bpf_ktime_get_ns() < r->until_ns;
}

static __always_inline void count_lost(void)
{
	__u32 zero = 0;
	struct counters *c = bpf_map_lookup_elem(&counters, &zero);

	if (c)
		c->count[REASON_CONNECTION_LOST]++;
}

static __always_inline struct beginning *beginning_of(struct sock *sk, __u64 flags)
{
	return bpf_sk_storage_get(&beginnings, sk, NULL, flags);
}

static __always_inline void note_thread(struct beginning *b)
{
	__u64 id = bpf_get_current_pid_tgid();

	b->tgid = id >> 32;
	b->tid = (__u32)id;
}

/* The current thread sends a SYN. */
static __always_inline void opens(struct sock *sk)
{
	struct beginning *b = beginning_of(sk, BPF_SK_STORAGE_GET_F_CREATE);

	if (!b)
		return;
	__builtin_memset(b, 0, sizeof(*b));
	b->side = CONNECTION_CLIENT;
	b->opened_ns = bpf_ktime_get_boot_ns();
	note_thread(b);
}

/* The handshake is over. Who runs now may be anybody. */
static __always_inline void is_established(struct sock *sk)
{
	struct beginning *b = beginning_of(sk, BPF_SK_STORAGE_GET_F_CREATE);
	const struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);

	if (!b || !tcp)
		return;
	b->established_ns = bpf_ktime_get_boot_ns();
	if (!b->side) {
		b->side = CONNECTION_SERVER;
		b->opened_ns = b->established_ns;
	}
	/* Both may have sent data with their SYN. A client's own SYN counts as acknowledged. */
	b->first_in = tcp->rcv_nxt - (__u32)tcp->bytes_received;
	b->first_out = tcp->snd_una - (__u32)tcp->bytes_acked + (b->side == CONNECTION_CLIENT);
}

/* The current thread closes it: of a server's connection that is the one that is known. */
static __always_inline void closes(struct sock *sk)
{
	struct beginning *b = beginning_of(sk, 0);

	if (b && !b->tgid)
		note_thread(b);
}

/* Why, by the state that the connection ends in. */
static __always_inline __u8 how_it_ends(int from, int error)
{
	switch (error) {
	case 0:
		break;
	case ECONNRESET:
	case EPIPE:
		return CONNECTION_RESET;
	case ECONNREFUSED:
		return CONNECTION_REFUSED;
	case ETIMEDOUT:
		return CONNECTION_TIMED_OUT;
	case EHOSTUNREACH:
	case ENETUNREACH:
		return CONNECTION_UNREACHABLE;
	default:
		return CONNECTION_FAILED;
	}
	if (from == STATE_SYN_SENT)
		return CONNECTION_ABANDONED;
	if (from == STATE_ESTABLISHED || from == STATE_CLOSE_WAIT || from == STATE_SYN_RECV)
		return CONNECTION_ABORTED;
	return CONNECTION_CLOSED;
}

static __always_inline __u64 cgroup_of(const struct sock *sk)
{
	if (!bpf_core_field_exists(struct sock_cgroup_data, cgroup))
		return 0;
	return BPF_CORE_READ(sk, sk_cgrp_data.cgroup, kn, id);
}

static __always_inline void fill_beginning(struct record_connection *r, const struct beginning *b)
{
	r->side = b->side;
	r->opened_ns = b->opened_ns;
	r->established_ns = b->established_ns;
	r->first_out = b->first_out;
	r->first_in = b->first_in;
	r->tgid = b->tgid;
	r->tid = b->tid;
}

/* The kernel counts the peer's FIN as a byte received. */
static __always_inline int has_received_fin(const struct sock *sk)
{
	return sk->__sk_common.skc_flags >>
		   bpf_core_enum_value(enum sock_flags___kernel, SOCK_DONE) &
	       1;
}

static __always_inline void fill_counts(struct record_connection *r, const struct sock *sk,
					const struct tcp_sock *tcp)
{
	r->local_port = ((const struct inet_sock *)tcp)->inet_sport;
	r->sent = tcp->bytes_sent - tcp->bytes_retrans;
	r->received = tcp->bytes_received - has_received_fin(sk);
	r->retransmitted = tcp->total_retrans;
	r->rtt_us = tcp->srtt_us >> 3;
}

static __always_inline void fill_ends(struct record_connection *r, struct sock *sk)
{
	struct record_ends ends = {};

	read_ends(&ends, sk);
	r->netns = (__u32)ends.netns;
	r->remote_port = ends.remote_port;
	__builtin_memcpy(r->local, ends.local, sizeof(r->local));
	__builtin_memcpy(r->remote, ends.remote, sizeof(r->remote));
}

/* It is over, after state `from`. */
static __always_inline void tell(struct sock *sk, int from)
{
	const struct beginning *b = beginning_of(sk, 0);
	const struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);
	struct record_connection *r;

	/* The kernel takes back an end of a handshake that nobody has heard of. */
	if (!tcp || (!b && from == STATE_SYN_RECV))
		return;
	/* The last of the room is kept for the ends of requests that are told of already. */
	r = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA) < RECORDS_FULL
		? bpf_ringbuf_reserve(&records, sizeof(*r), 0)
		: NULL;
	if (!r) {
		count_lost();
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->kind = RECORD_CONNECTION;
	r->end = how_it_ends(from, sk->sk_err);
	r->closed_ns = bpf_ktime_get_boot_ns();
	r->cookie = bpf_get_socket_cookie(sk);
	r->cgroup = cgroup_of(sk);
	if (b)
		fill_beginning(r, b);
	fill_counts(r, sk, tcp);
	fill_ends(r, sk);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(record_state, struct sock *sk, int from, int to)
{
	if (!is_wanted(sk))
		return 0;
	if (to == STATE_SYN_SENT)
		opens(sk);
	else if (to == STATE_ESTABLISHED)
		is_established(sk);
	else if (to == STATE_FIN_WAIT1 || to == STATE_LAST_ACK)
		closes(sk);
	else if (to == STATE_CLOSE && from != STATE_CLOSE && from != STATE_LISTEN)
		tell(sk, from);
	return 0;
}
