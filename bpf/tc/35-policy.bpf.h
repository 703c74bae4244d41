/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between frame and decide, policy: what do the rules say about this request?
 *
 * A policy is one image (policy.h) in a map of its own. A new one takes its place in a single
 * step, so a packet sees the whole of the old or the whole of the new. Without an image the
 * built-in rules hold: inject.
 */
#ifndef CTXPROP_TC_POLICY_BPF_H
#define CTXPROP_TC_POLICY_BPF_H

#include "20-flow.bpf.h"
#define POLICY_FUNCTION VERIFIED_ALONE
#include "policy.h"
#include "policy_host.h"

/* Heads that may be half read. */
#define POLICY_HEADS_MAX 4096
/* Steps that reading a packet may take: one for each byte of a start line and a host, one or two
 * for each other line. */
#define POLICY_READ_STEPS 8192
/* No byte of a stream. */
#define POLICY_LOST (~0ULL)

/* (By size: the compiler leaves out the type of an inner map's value.) */
struct policy_image_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct policy_image));
};

/* Index 0: the image in force. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, __u32);
	__array(values, struct policy_image_map);
} policies __weak SEC(".maps");

/* Index 0: the generation that was given out last. Read and written by user space only. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} policy_state __weak SEC(".maps");

/* How many requests each rule has decided; whose counter it is, `rule_owners` tells. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, POLICY_COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} rule_hits __weak SEC(".maps");

/* Index 0. Read and written by user space only. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct policy_owners);
} rule_owners __weak SEC(".maps");

/* A head of which only the beginning has come, while rules ask for its host. */
struct policy_head {
	struct policy_host host;
	__u64 opened_ns; /* of the flow */
	__u32 start;     /* app: the first byte of the head */
	__u32 next;      /* app: the byte where the reading goes on */
};

/* By flow. If one is pushed out, the host of that request is not known. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, POLICY_HEADS_MAX);
	__type(key, struct flow_key);
	__type(value, struct policy_head);
} heads __weak SEC(".maps");

/* Working area: too large for the stack. */
struct policy_work {
	struct policy_query query;
	struct policy_head head; /* the one at hand, as far as it has been read */
	struct policy_labels labels;
	__u32 passing; /* 1: the verdict is for the host of this request, and not for the next */
	__u32 at;      /* where in the packet the next piece of the head begins */
	__u32 left;    /* how much is to come */
	__u32 i;       /* how far this piece was read */
	__u32 filled;  /* and how much it is */
	struct protocol_window piece;
	struct policy_verdict verdict; /* of the request at hand */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct policy_work);
} policy_work __weak SEC(".maps");

/* What callbacks of bpf_loop() carry along. */
struct policy_reading {
	struct __sk_buff *skb;
	struct policy_work *work;
};

static __always_inline struct policy_work *policy_work_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&policy_work, &zero);
}

/* The image in force, or NULL. */
static __always_inline const struct policy_image *policy_image_get(void)
{
	__u32 zero = 0;
	void *map = bpf_map_lookup_elem(&policies, &zero);

	return map ? bpf_map_lookup_elem(map, &zero) : NULL;
}

/* What a request is that leaves. */
static __always_inline __u32 policy_dir_out(struct __sk_buff *skb, const struct flow *f)
{
	struct sock_common *socket;

	if (f->flags & FLOW_LOCAL)
		return POLICY_OUT;
	if (!skb->sk)
		return POLICY_FORWARD;
	socket = packet_socket(skb);
	return socket && !packet_is_own(skb, socket) ? POLICY_FORWARD : POLICY_OUT;
}

/* The sender's cgroup and those around it, innermost first. */
static __always_inline void policy_nest(struct __sk_buff *skb, struct policy_query *q)
{
	__u32 count = 0;

	for (int level = POLICY_NESTED_MAX - 1; level >= 0; level--) {
		__u64 id = bpf_skb_ancestor_cgroup_id(skb, level);

		if (id && count < POLICY_NESTED_MAX)
			q->cgroup[count++] = id;
	}
}

/* As the request travels; the key of the flow is as our side sends. */
static __always_inline void policy_ask(struct __sk_buff *skb, const struct packet *p, __u32 dir,
				       const struct policy_image *image, struct policy_query *q)
{
	__builtin_memset(q, 0, sizeof(*q));
	q->dir = dir;
	q->device.low = policy_device(p->key.netns, skb->ifindex);
	if (dir == POLICY_IN) {
		q->from = policy_address(p->key.dst);
		q->to = policy_address(p->key.src);
		q->port.low = bpf_ntohs(p->key.sport);
		return;
	}
	q->from = policy_address(p->key.src);
	q->to = policy_address(p->key.dst);
	q->port.low = bpf_ntohs(p->key.dport);
	if (dir == POLICY_OUT && policy_asks(image, POLICY_CGROUP))
		policy_nest(skb, q);
}

/* Find the rule for a request; its verdict is left in policy_work. Returns 0 or -1. */
VERIFIED_ALONE int policy_find(struct __sk_buff *skb, const struct packet *p, struct flow *f,
			       __u32 dir)
{
	struct policy_work *work = policy_work_get();
	const struct policy_image *image = policy_image_get();
	__u32 rule;
	int lasting = 1;

	if (!work || !image || !p || !f)
		return -1;
	rule = policy_recall(image, f->policy);
	if (rule == POLICY_NONE) {
		policy_ask(skb, p, dir, image, &work->query);
		rule = policy_match(image, &work->query, &lasting);
		if (rule == POLICY_NONE)
			return -1;
		if (lasting)
			f->policy = policy_remember(image, rule);
	}
	work->passing = !lasting;
	work->verdict = image->verdict[rule & (POLICY_RULES_MAX - 1)];
	return 0;
}

/* A step of reading the head at hand for its host, as a callback of bpf_loop(). */
static long policy_read_step(__u32 i, struct policy_reading *r)
{
	struct policy_work *work = r->work;
	__u32 n = work->left;

	(void)i;
	if (work->i < work->filled) {
		policy_host_read(&work->head.host, &work->piece, &work->i, work->filled);
		return 0;
	}
	if (n > POLICY_PIECE_MAX)
		n = POLICY_PIECE_MAX;
	if (!size_within(&n, POLICY_PIECE_MAX) ||
	    bpf_skb_load_bytes(r->skb, work->at, work->piece.byte, n))
		return 1;
	work->at += n;
	work->left -= n;
	work->i = 0;
	work->filled = n;
	return 0;
}

/* Read `n` bytes at `at` of the packet on from where work->head.host stands. Returns 0 or -1. */
VERIFIED_ALONE int policy_read(struct __sk_buff *skb, __u32 at, __u32 n)
{
	struct policy_reading r = {.skb = skb, .work = policy_work_get()};
	struct policy_work *work = r.work;

	if (!work)
		return -1;
	work->at = at;
	work->left = n;
	work->i = work->filled = 0;
	bpf_loop(POLICY_READ_STEPS, policy_read_step, &r, 0);
	return work->left || work->i < work->filled ? -1 : 0;
}

/*
 * Let work->head.host be what is known of the head that begins with byte `start`: nothing, or what
 * its earlier packets have said. Returns the byte where the reading goes on; POLICY_LOST: some is
 * missing.
 */
VERIFIED_ALONE __u64 policy_resume(const struct packet *p, const struct flow *f, __u32 start)
{
	struct policy_work *work = policy_work_get();
	struct policy_head *head;
	struct flow_key key;

	if (!work || !p || !f)
		return POLICY_LOST;
	__builtin_memset(&work->head.host, 0, sizeof(work->head.host));
	if (!seq_before(start, p->seq))
		return start;
	key = p->key; /* before 6.4 a map's key must be on the stack */
	head = bpf_map_lookup_elem(&heads, &key);
	if (!head || head->start != start || head->opened_ns != f->opened_ns ||
	    seq_before(head->next, p->seq) || seq_before(p->seq + p->len, head->next))
		return POLICY_LOST;
	work->head = *head;
	return head->next;
}

/* As a callback of bpf_loop(). */
static long policy_labels_step(__u32 i, struct policy_work **work)
{
	(void)i;
	return policy_labels_take(&(*work)->labels, &(*work)->head.host);
}

/* The numbers of the host that was read into the query. Returns 0 or -1. */
VERIFIED_ALONE int policy_name(void)
{
	struct policy_work *work = policy_work_get();

	if (!work || !policy_host_is_clear(&work->head.host))
		return -1;
	policy_labels_begin(&work->labels, &work->head.host);
	bpf_loop(POLICY_HOST_MAX, policy_labels_step, &work, 0);
	policy_labels_nested(&work->labels, work->query.host);
	return 0;
}

/*
 * The host of a request whose head is bytes [start, end) of the stream; some of them may have come
 * with earlier packets. Returns 0, also for a request without any, or -1 when it cannot be told.
 */
VERIFIED_ALONE int policy_host_of(struct __sk_buff *skb, const struct packet *p,
				  const struct flow *f, __u32 start, __u32 end)
{
	__u64 from;

	if (!p || !f)
		return -1;
	from = policy_resume(p, f, start);
	if (from == POLICY_LOST || seq_before(end, from))
		return -1;
	if (end != (__u32)from && policy_read(skb, p->payload + ((__u32)from - p->seq), end - from))
		return -1;
	return policy_name();
}

/* The rule for the host that was read. Returns 0 or -1. */
VERIFIED_ALONE int policy_find_by_host(void)
{
	struct policy_work *work = policy_work_get();
	const struct policy_image *image = policy_image_get();
	struct policy_query *q;
	__u32 rule;

	if (!work || !image)
		return -1;
	q = &work->query;
	if (q->generation != image->generation)
		return -1;
	q->found.host = policy_search_nested(image, POLICY_HOST, q->host, &q->nested);
	rule = policy_first(image, q);
	if (rule == POLICY_NONE)
		return -1;
	work->verdict = image->verdict[rule & (POLICY_RULES_MAX - 1)];
	return 0;
}

/* The byte where a head ends that has not ended yet. */
#define POLICY_OPEN_END (~0U)

/*
 * What a rule says about a request that goes out; its head is bytes [start, start + len) of the
 * stream. NULL: nothing but the built-in "inject".
 */
static __always_inline const struct policy_verdict *policy_verdict(struct __sk_buff *skb,
								   const struct packet *p,
								   struct flow *f, __u32 start,
								   __u32 len)
{
	struct policy_work *work;

	if (!policy_image_get() || policy_find(skb, p, f, policy_dir_out(skb, f)))
		return NULL;
	work = policy_work_get();
	if (!work)
		return NULL;
	if (work->passing &&
	    (len == POLICY_OPEN_END || policy_host_of(skb, p, f, start, start + len) ||
	     policy_find_by_host()))
		work->verdict.action = POLICY_UNKNOWN;
	return &work->verdict;
}

/* The packet ends within a head that begins with byte `start`: if a rule asks for its host, keep
 * what was read of it. */
VERIFIED_ALONE int policy_keep(struct __sk_buff *skb, const struct packet *p, struct flow *f,
			       __u32 start)
{
	struct policy_work *work = policy_work_get();
	struct policy_head *head;
	struct flow_key key;
	__u64 from;

	if (!work || !p || !f || !policy_image_get() ||
	    policy_find(skb, p, f, policy_dir_out(skb, f)) || !work->passing)
		return 0;
	from = policy_resume(p, f, start);
	if (from == POLICY_LOST ||
	    policy_read(skb, p->payload + ((__u32)from - p->seq), p->seq + p->len - (__u32)from))
		return 0;
	head = &work->head;
	head->opened_ns = f->opened_ns;
	head->start = start;
	head->next = p->seq + p->len;
	key = p->key;
	bpf_map_update_elem(&heads, &key, head, BPF_ANY);
	return 0;
}

/* The rule that this counter belongs to has decided a request. */
static __always_inline void policy_hit(__u32 counter)
{
	__u64 *hits = bpf_map_lookup_elem(&rule_hits, &counter);

	if (hits)
		*hits += 1;
}

/* Count a request that goes out, by what policy_verdict() said of it. */
static __always_inline void policy_count(struct __sk_buff *skb, const struct flow *f,
					 const struct policy_verdict *v)
{
	if (!v || v->action != POLICY_UNKNOWN)
		policy_hit(v ? v->counter : policy_dir_out(skb, f));
}

/* What the rule says that is known for requests that come in. NULL: none is known. */
static __always_inline const struct policy_verdict *policy_verdict_in(const struct flow *f)
{
	const struct policy_image *image = policy_image_get();
	__u32 rule = image ? policy_recall(image, f->policy) : POLICY_NONE;

	return rule == POLICY_NONE ? NULL : &image->verdict[rule & (POLICY_RULES_MAX - 1)];
}

/* Count a request that has come in. */
VERIFIED_ALONE int policy_count_in(const struct flow *f)
{
	const struct policy_verdict *v = f ? policy_verdict_in(f) : NULL;

	policy_hit(v ? v->counter : POLICY_IN);
	return 0;
}

/*
 * Find the rule for requests that come in, so that policy_ignores() knows it: that is asked where
 * no stack is left to look for rules.
 */
static __always_inline void policy_prepare(struct __sk_buff *skb, const struct packet *p,
					   struct flow *f)
{
	const struct policy_image *image = policy_image_get();

	if (image && policy_recall(image, f->policy) == POLICY_NONE)
		policy_find(skb, p, f, POLICY_IN);
}

/* Is the context of a request that comes in not to be believed? In doubt it is not. */
static __always_inline int policy_ignores(const struct flow *f)
{
	const struct policy_verdict *v;

	if (!policy_image_get())
		return 0;
	v = policy_verdict_in(f);
	return !v || v->action == POLICY_IGNORE;
}

/* Is a new trace sampled? By the last 56 bits of its id, as everybody else would decide. */
static __always_inline int policy_samples(const struct policy_verdict *v, __u64 trace_id_end)
{
	return !v || (bpf_be64_to_cpu(trace_id_end) & 0xffffffffffffffULL) >= v->unsampled;
}

#endif
