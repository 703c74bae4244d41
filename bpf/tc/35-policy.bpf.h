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

/* Working area: too large for the stack. */
struct policy_work {
	struct policy_query query;
	struct policy_host host;
	__u32 passing; /* 1: the verdict is for the host of this request, and not for the next */
	__u8 head[POLICY_HEAD_MAX + 8];
	struct policy_verdict verdict; /* of the request at hand */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct policy_work);
} policy_work __weak SEC(".maps");

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
static __always_inline __u32 policy_dir_out(const struct __sk_buff *skb)
{
	return skb->sk ? POLICY_OUT : POLICY_FORWARD;
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

/* As callbacks of bpf_loop(). */
static long policy_host_find_step(__u32 i, struct policy_work **work)
{
	(void)i;
	return policy_host_find(&(*work)->host, (*work)->head);
}

static long policy_host_measure_step(__u32 i, struct policy_work **work)
{
	(void)i;
	return policy_host_measure(&(*work)->host, (*work)->head);
}

static long policy_host_take_step(__u32 i, struct policy_work **work)
{
	(void)i;
	return policy_host_take(&(*work)->host, (*work)->head);
}

/*
 * The host of the request whose head is payload bytes [from, to), into the query of policy_work.
 * Returns 0, also for a request without any, or -1 when it cannot be told.
 */
VERIFIED_ALONE int policy_host_read(struct __sk_buff *skb, const struct packet *p, __u32 from,
				    __u32 to)
{
	struct policy_work *work = policy_work_get();
	struct policy_host *host;
	__u32 n = to - from;

	if (!work || !p || from > to)
		return -1;
	if (n > POLICY_HEAD_MAX)
		n = POLICY_HEAD_MAX;
	host = &work->host;
	policy_host_begin(host, n);
	if (!size_within(&n, POLICY_HEAD_MAX) ||
	    bpf_skb_load_bytes(skb, p->payload + from, work->head, n))
		return -1;
	bpf_loop(POLICY_HEAD_MAX, policy_host_find_step, &work, 0);
	/* Of two fields servers take the one or the other; and it may stand farther behind. */
	if (host->fields != 1)
		return host->fields || to - from > n ? -1 : 0;
	bpf_loop(POLICY_HOST_MAX + 1, policy_host_measure_step, &work, 0);
	if (!host->ends)
		return -1;
	policy_host_measured(host, work->head);
	bpf_loop(POLICY_HOST_MAX, policy_host_take_step, &work, 0);
	policy_host_nested(host, work->query.host);
	return 0;
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

/*
 * What a rule says about a request that goes out; its head is payload bytes [from, to), which
 * from > to says are not all in this packet. NULL: nothing but the built-in "inject".
 */
static __always_inline const struct policy_verdict *
policy_verdict(struct __sk_buff *skb, const struct packet *p, struct flow *f, __u32 from, __u32 to)
{
	struct policy_work *work;

	if (!policy_image_get() || policy_find(skb, p, f, policy_dir_out(skb)))
		return NULL;
	work = policy_work_get();
	if (!work)
		return NULL;
	if (work->passing && (policy_host_read(skb, p, from, to) || policy_find_by_host()))
		work->verdict.action = POLICY_UNKNOWN;
	return &work->verdict;
}

/* The rule that this counter belongs to has decided a request. */
static __always_inline void policy_hit(__u32 counter)
{
	__u64 *hits = bpf_map_lookup_elem(&rule_hits, &counter);

	if (hits)
		*hits += 1;
}

/* Count a request that goes out, by what policy_verdict() said of it. */
VERIFIED_ALONE int policy_count(struct __sk_buff *skb, const struct policy_verdict *v)
{
	if (!v)
		policy_hit(policy_dir_out(skb));
	else if (v->action != POLICY_UNKNOWN)
		policy_hit(v->counter);
	return 0;
}

/* Count a request that has come in. */
VERIFIED_ALONE int policy_count_in(const struct flow *f)
{
	const struct policy_image *image = policy_image_get();
	__u32 rule = f && image ? policy_recall(image, f->policy) : POLICY_NONE;

	policy_hit(rule == POLICY_NONE ? POLICY_IN
				       : image->verdict[rule & (POLICY_RULES_MAX - 1)].counter);
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
	const struct policy_image *image = policy_image_get();
	__u32 rule;

	if (!image)
		return 0;
	rule = policy_recall(image, f->policy);
	return rule == POLICY_NONE ||
	       image->verdict[rule & (POLICY_RULES_MAX - 1)].action == POLICY_IGNORE;
}

/* Is a new trace sampled? By the last 56 bits of its id, as everybody else would decide. */
static __always_inline int policy_samples(const struct policy_verdict *v, __u64 trace_id_end)
{
	return !v || (bpf_be64_to_cpu(trace_id_end) & 0xffffffffffffffULL) >= v->unsampled;
}

#endif
