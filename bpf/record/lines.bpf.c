// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells who writes into the sockets that `ctxprop logs` gives to a program for its output. Loaded
 * while that runs, and then only.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "record/lines.h"

#define FAMILY_UNIX 1

char LICENSE[] SEC("license") = "GPL";

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sk_buff {
	unsigned int len;
};

struct sk_buff_head {
	struct sk_buff *prev; /* the newest; of an empty queue the queue itself */
};

struct sock_common {
	unsigned short skc_family;
};

struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
};

#pragma clang attribute pop

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct line_stream);
} line_streams SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, LINES_RING_SIZE);
} line_records SEC(".maps");

/* The node's, see context/traces.h. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TRACES_CTX_MAX);
	__type(key, __u64);
	__type(value, struct traces_ctx);
} traces_ctx_v1 SEC(".maps");

/*
 * The newest piece of a queue. Another thread may have put one behind that of the current one, or
 * all may be read already: who reads the records finds out.
 */
static __always_inline void read_newest(struct line_record *r, const struct sock *sk)
{
	const struct sk_buff *newest = sk->sk_receive_queue.prev;

	r->size = newest->len;
	r->piece = sk->sk_receive_queue.prev == newest ? (__u64)newest : 0;
	if (newest == (const struct sk_buff *)&sk->sk_receive_queue)
		r->piece = r->size = 0;
}

static __always_inline void read_worker(struct line_record *r)
{
	__u64 key = bpf_get_current_pid_tgid();
	const struct traces_ctx *works_on = bpf_map_lookup_elem(&traces_ctx_v1, &key);

	r->tgid = key >> 32;
	r->tid = (__u32)key;
	r->is_known = !!works_on;
	if (works_on)
		r->works_on = *works_on;
	else
		__builtin_memset(&r->works_on, 0, sizeof(r->works_on));
}

/* A piece was put into the queue of `to`; of unix sockets the current thread did that. */
SEC("tp_btf/sk_data_ready")
int BPF_PROG(tell_writer, struct sock *to)
{
	struct line_stream *s;
	struct line_record *r;
	__u32 sequence;

	/* The hook sees all sockets of the node. */
	if (to->__sk_common.skc_family != FAMILY_UNIX)
		return 0;
	s = bpf_sk_storage_get(&line_streams, to, NULL, 0);
	if (!s)
		return 0;
	/* Counted before the queue is looked at: see agent/logs/writers.h. */
	sequence = __sync_fetch_and_add(&s->sequence, 1);
	r = bpf_ringbuf_reserve(&line_records, sizeof(*r), 0);
	if (!r)
		return 0;
	r->stream = s->stream;
	r->sequence = sequence;
	read_newest(r, to);
	read_worker(r);
	bpf_ringbuf_submit(r, 0);
	return 0;
}
