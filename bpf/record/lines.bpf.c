// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tells who writes into the sockets that `ctxprop logs` gives to a program for its output. Loaded
 * while that runs, and then only.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "engine/tally.h"
#include "engine/worker.h"
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

/* The node's, see engine/maps.bpf.h. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768); /* as there are, when it is shared */
	__type(key, struct worker_key);
	__type(value, struct worker);
} workers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 8192); /* as above */
	__type(key, __u32);
	__type(value, struct process);
} processes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, TRACES_CTX_MAX);
	__type(key, __u64);
	__type(value, struct traces_ctx);
} traces_ctx_v1 SEC(".maps");

/* So many requests have to come and go before a process is believed. */
#define PROVEN 16

/*
 * What is known of a process is void when it is found out what it runs (learn.h), and that its
 * threads leave requests to others is learnt when the first one has been responded to.
 */
struct trial {
	__u32 number; /* as in struct process */
	__u32 runtime;
	__u32 requests; /* that lines were written for */
	__u32 reserved;
	__u64 last; /* span of the last one */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32); /* tgid */
	__type(value, struct trial);
} line_trials SEC(".maps");

/* Has the process been seen to serve enough of them? This one counts. */
static __always_inline int is_proven(__u32 tgid, const struct process *p, __u64 span)
{
	struct trial *t = bpf_map_lookup_elem(&line_trials, &tgid);

	if (!t || t->number != p->number || t->runtime != p->runtime) {
		struct trial first = {
		    .number = p->number, .runtime = p->runtime, .requests = 1, .last = span};

		bpf_map_update_elem(&line_trials, &tgid, &first, BPF_ANY);
		return 0;
	}
	if (t->requests > PROVEN)
		return 1;
	if (t->last == span)
		return 0;
	t->last = span;
	__sync_fetch_and_add(&t->requests, 1);
	return 0;
}

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

/*
 * Does a thread do one thing at a time, and that for the request that it is shown at? A loop is
 * shown at what it has read last, whatever it does since then.
 */
static __always_inline int does_one_thing(const struct worker_key *key,
					  const struct traces_ctx *shown)
{
	const struct process *p = bpf_map_lookup_elem(&processes, &key->tgid);
	const struct worker *w = bpf_map_lookup_elem(&workers, key);

	return w && !(w->flags & (WORKER_LOOP | WORKER_MAYBE)) && tally_open(&w->tally) == 1 && p &&
	       line_process_is_simple(p) && is_proven(key->tgid, p, traces_ctx_span(shown));
}

static __always_inline void read_worker(struct line_record *r)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct worker_key key = {.tgid = id >> 32, .tid = (__u32)id};
	const struct traces_ctx *works_on = bpf_map_lookup_elem(&traces_ctx_v1, &id);

	if (works_on && !does_one_thing(&key, works_on))
		works_on = NULL;
	r->tgid = key.tgid;
	r->tid = key.tid;
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
