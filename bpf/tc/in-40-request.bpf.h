/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, 4: requests to a local server. Their heads are read as they pass, cut as they may be;
 * each complete head makes an entry in map `requests`, with the context that it brought or a new
 * one, and an arrival in the inbox of the socket that is to receive it.
 */
#ifndef CTXPROP_TC_IN_REQUEST_BPF_H
#define CTXPROP_TC_IN_REQUEST_BPF_H

#include "30-frame.bpf.h"
#include "35-policy.bpf.h"
#include "checksum.bpf.h"
#include "random.bpf.h"
#include "serving.bpf.h"

/* A piece of a value, at most: what one step of the automaton looks at. */
#define REQUEST_PIECE_MAX (8 * PROTOCOL_SCAN_WORDS)

/* One inbound packet of a server's connection. */
struct reading {
	struct __sk_buff *skb;
	const struct packet *p;
	struct flow *flow;
	struct frame frame;
};

/* As much of the kernel's struct as is needed; the offset is found at load time. */
struct tcp_request_sock {
	__u32 rcv_isn;
} __attribute__((preserve_access_index));

/*
 * The local socket of an inbound packet: one that is connected, one that is still being
 * accepted, or a listener. To be released. NULL: none of this namespace.
 */
static __always_inline struct bpf_sock *request_socket(struct __sk_buff *skb,
						       const struct packet *p, struct scratch *s)
{
	struct bpf_sock_tuple *tuple = &s->tuple;

	/* The key is the connection as our side sends: its source is the packet's destination. */
	if (p->ipv6) {
		__builtin_memcpy(tuple->ipv6.saddr, p->key.dst, 16);
		__builtin_memcpy(tuple->ipv6.daddr, p->key.src, 16);
		tuple->ipv6.sport = p->key.dport;
		tuple->ipv6.dport = p->key.sport;
		return bpf_skc_lookup_tcp(skb, tuple, sizeof(tuple->ipv6), BPF_F_CURRENT_NETNS, 0);
	}
	tuple->ipv4.saddr = *(const __be32 *)(p->key.dst + 12);
	tuple->ipv4.daddr = *(const __be32 *)(p->key.src + 12);
	tuple->ipv4.sport = p->key.dport;
	tuple->ipv4.dport = p->key.sport;
	return bpf_skc_lookup_tcp(skb, tuple, sizeof(tuple->ipv4), BPF_F_CURRENT_NETNS, 0);
}

/* Look for the socket, and tell it what has arrived for it. */
static __always_inline void request_deliver_first(struct __sk_buff *skb, const struct packet *p,
						  struct flow *f, struct scratch *s)
{
	struct bpf_sock *sk = request_socket(skb, p, s), *full;
	struct serving *serving = &f->serving;

	if (!sk) {
		count(REASON_SERVED_UNBOUND);
		serving->delivered = serving->open_end;
		return;
	}
	full = bpf_sk_fullsock(sk);
	if (!full || full->state == BPF_TCP_LISTEN)
		f->flags |= FLOW_EARLY;
	else if (serving_deliver(serving, full))
		serving->delivered = serving->open_end;
	else if (f->flags & FLOW_EARLY)
		f->flags &= ~FLOW_EARLY;
	bpf_sk_release(sk);
}

/* Tell the socket what has arrived for it; while it is being accepted, an outbound packet will. */
static __always_inline void request_deliver(struct __sk_buff *skb, const struct packet *p,
					    struct flow *f, struct scratch *s)
{
	struct inbox *box = inbox_lookup(f->serving.inbox);

	if (box)
		serving_deliver_to(&f->serving, box, f->serving.inbox);
	else
		request_deliver_first(skb, p, f, s);
}

/* Load a piece of a value into scratch.header. Returns 0 or -1. */
static __always_inline int request_load(struct __sk_buff *skb, struct scratch *s, __u32 off,
					__u32 n)
{
	return size_within(&n, REQUEST_PIECE_MAX) ? bpf_skb_load_bytes(skb, off, s->header, n) : -1;
}

/* What of a traceparent is beyond the bytes that are wanted of it: loaded into scratch.header. */
static __always_inline void request_excess(struct traceparent_text *text, const struct scratch *s,
					   __u32 n)
{
	for (__u32 i = 0; i < REQUEST_PIECE_MAX && i < n; i++)
		traceparent_excess(text, s->header[i]);
}

/* A piece of the traceparent: `n` bytes at `off`. Of two fields neither counts. */
VERIFIED_ALONE int request_parent(struct __sk_buff *skb, struct flow *f, __u32 off, __u32 n)
{
	struct scratch *s = scratch_get();
	struct traceparent_text *text;
	__u32 wants, pos;

	if (!s || !f || protocol_has_two_parents(&f->serving.requests))
		return 0;
	text = &f->serving.parent;
	pos = text->len;
	wants = traceparent_wants(text, n);
	n -= wants;
	if (size_within(&wants, TRACEPARENT_TEXT_MAX) && index_within(&pos, 64)) {
		if (bpf_skb_load_bytes(skb, off, text->byte + pos, wants))
			return -1;
		text->len = pos + wants;
		off += wants;
	}
	if (n && !request_load(skb, s, off, n))
		request_excess(text, s, n);
	return 0;
}

struct request_feed {
	struct tracestate *to;
	const struct scratch *s;
	__u32 n;
};

/* One byte of a tracestate, as a callback of bpf_loop(). */
static long request_feed_step(__u32 i, struct request_feed *feed)
{
	if (i >= feed->n || !index_within(&i, REQUEST_PIECE_MAX))
		return 1;
	tracestate_feed(feed->to, feed->s->header[i]);
	return 0;
}

/* Make a request, of which nothing is known yet but its id. Returns that, or 0: there is no room.
 */
static __always_inline __u64 request_draw(struct scratch *s)
{
	for (int i = 0; i < REQUEST_DRAWS; i++) {
		__u64 id = request_drawn(random_next(&s->random), i);

		if (request_make(id))
			return id;
	}
	return 0;
}

/* What the tracestate of a request starts from: it is too large for the stack. */
struct blank_state {
	__u8 zero[sizeof(struct tracestate)];
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct blank_state);
} blank_state __weak SEC(".maps");

/*
 * The tracestate of the head at hand, and its request with it, made when the first byte of it has
 * come; or NULL.
 */
static __always_inline struct tracestate *request_state_get(struct serving *serving,
							    struct scratch *s)
{
	struct blank_state *template;
	__u64 id = serving->span;
	__u32 zero = 0;
	struct request *r;

	if (!id) {
		template = bpf_map_lookup_elem(&blank_state, &zero);
		id = request_draw(s);
		r = request_lookup(id);
		if (!r || !template)
			return NULL;
		r->context.tracestate = 1;
		serving->span = id;
		bpf_map_update_elem(&tracestates, &id, template, BPF_NOEXIST);
	}
	return tracestate_lookup(id);
}

/* A piece of a tracestate: `n` bytes at `off`. Several fields are one list. */
VERIFIED_ALONE int request_state(struct __sk_buff *skb, struct flow *f, __u32 off, __u32 n)
{
	struct scratch *s = scratch_get();
	struct request_feed feed = {.s = s, .n = n};

	if (!s || !f || request_load(skb, s, off, n))
		return 0;
	feed.to = request_state_get(&f->serving, s);
	if (!feed.to)
		return 0;
	if (protocol_value_begins(&f->serving.requests))
		tracestate_feed(feed.to, ',');
	bpf_loop(REQUEST_PIECE_MAX, request_feed_step, &feed, 0);
	return 0;
}

VERIFIED_ALONE int request_read_parent(const struct traceparent_text *text, struct traceparent *ret)
{
	return text && ret ? traceparent_read(text, ret) : -1;
}

/* The traceparent that a head brought. Returns whether it is valid, and to be believed. */
static __always_inline int request_believe(const struct flow *f, struct scratch *s,
					   struct request *ret)
{
	struct traceparent *parent = &s->parent;

	if (request_read_parent(&f->serving.parent, parent)) {
		count(REASON_SERVED_INVALID);
		return 0;
	}
	if (policy_ignores(f)) {
		count(REASON_SERVED_IGNORED);
		return 0;
	}
	__builtin_memcpy(ret->context.trace_id, parent->trace_id, sizeof(parent->trace_id));
	__builtin_memcpy(ret->parent_id, parent->span_id, sizeof(parent->span_id));
	ret->context.flags = parent->flags & (TRACEPARENT_SAMPLED | TRACEPARENT_RANDOM);
	return 1;
}

/* The same of a head that may have none, or several. */
static __always_inline int request_context(const struct flow *f, struct scratch *s,
					   struct request *ret)
{
	const struct serving *serving = &f->serving;

	if (!protocol_has_parent(&serving->requests))
		return 0;
	if (protocol_has_two_parents(&serving->requests)) {
		count(REASON_SERVED_INVALID);
		return 0;
	}
	return request_believe(f, s, ret);
}

/* A new trace begins. */
static __always_inline void request_root(const struct flow *f, struct scratch *s,
					 struct request *ret)
{
	__u64 *trace = (__u64 *)ret->context.trace_id;

	trace[0] = random_next(&s->random);
	trace[1] = random_next(&s->random) | 1;
	ret->context.flags = TRACEPARENT_RANDOM;
	if (policy_samples(policy_verdict_in(f), trace[1]))
		ret->context.flags |= TRACEPARENT_SAMPLED;
	ret->flags = REQUEST_ROOT;
}

/* The tracestate goes with a valid traceparent, if it is valid itself; else it is forgotten. */
static __always_inline void request_finish_state(const struct serving *serving, struct request *ret)
{
	__u64 id = serving->span;
	struct tracestate *state;

	if (!id)
		return;
	state = tracestate_lookup(id);
	if (state && !(ret->flags & REQUEST_ROOT) && tracestate_finish(state)) {
		ret->context.tracestate = 1;
		return;
	}
	bpf_map_delete_elem(&tracestates, &id);
	ret->context.tracestate = 0;
	if (!(ret->flags & REQUEST_ROOT))
		count(REASON_SERVED_STATE);
}

/* A number for the address that a request comes from. */
static __always_inline __u32 request_from(const struct flow_key *key)
{
	const __u64 *address = (const __u64 *)key->dst;

	return id_hash(key->netns, id_hash(0, address[0]) ^ address[1]);
}

/* What is known of a new request but the trace that it belongs to. */
static __always_inline void request_fill(struct request *new, const struct flow *f,
					 const struct flow_key *key, __u64 id)
{
	new->arrived_ns = clock_coarse();
	new->netns = key->netns;
	new->from = request_from(key);
	new->request_id = request_id_number(&f->id);
	*(__u64 *)new->context.span_id = id;
}

/* It belongs to the trace that its head has named (`named`: there is one), or begins one. */
static __always_inline void request_belongs(const struct flow *f, struct scratch *s,
					    struct request *new, int named)
{
	if (named) {
		count(REASON_SERVED_CHILD);
		return;
	}
	request_root(f, s, new);
	count(REASON_SERVED_ROOT);
}

/*
 * Make the request of the head at hand: in `ret`, or one that is followed no further. Returns its
 * id, 0 when there is no room for it.
 */
static __always_inline __u64 request_begin(const struct flow *f, struct scratch *s,
					   const struct flow_key *key, struct request **ret)
{
	const struct serving *serving = &f->serving;
	__u64 id = serving->span ?: request_draw(s);
	struct request *new = request_lookup(id) ?: &s->request;

	request_fill(new, f, key, id);
	request_belongs(f, s, new, request_context(f, s, new));
	request_finish_state(serving, new);
	if (!id)
		count(REASON_SERVED_FULL);
	*ret = new;
	return id;
}

/* Payload offset `end` is the end of a head. Returns 0, or -1: the flow cannot be followed. */
VERIFIED_ALONE int request_arrived(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				   __u32 end)
{
	struct scratch *s = scratch_get();
	struct serving_open *slot;
	struct serving *serving;
	struct request *r;

	if (!s || !p || !f)
		return 0;
	serving = &f->serving;
	if (serving_open_count(serving) >= SERVING_OPEN_MAX)
		return -1;
	slot = serving_slot(serving, serving->open_end);
	slot->request = request_begin(f, s, &p->key, &r);
	slot->method = protocol_method(&serving->requests);
	/* The LF of the blank line does not count among the bytes of the head. */
	slot->seq = p->seq + end - protocol_head_size(&serving->requests) - 1;
	/* A full barrier: the request is there before its response can be looked for. */
	__sync_lock_test_and_set(&serving->open_end, serving->open_end + 1);
	serving->span = 0;
	serving->parent.len = serving->parent.more = 0;
	f->id = (struct request_id){};
	f->requests++;
	policy_count_in(f);
	if (slot->request)
		record_served(skb, p, f, r, end);
	request_deliver(skb, p, f, s);
	return 0;
}

/* What an event of the framing comes to. Returns 1 when there is nothing more to read. */
static __always_inline int request_event(struct reading *r)
{
	struct frame *f = &r->frame;

	switch (f->event) {
	case PROTOCOL_VALUE:
		if (frame_takes_id(f, &r->flow->id))
			return 0;
		if (protocol_field(f->protocol) == PROTOCOL_FIELD_PARENT)
			request_parent(r->skb, r->flow, f->payload + f->place, f->at - f->place);
		else
			request_state(r->skb, r->flow, f->payload + f->place, f->at - f->place);
		return 0;
	case PROTOCOL_HEAD:
		/* Not of a tunnel, which is no request. */
		if (!protocol_is_tunnel(f->protocol) &&
		    request_arrived(r->skb, r->p, r->flow, f->at))
			serving_lose(r->flow);
		protocol_end_bodiless(f->protocol);
		return !!(r->flow->flags & FLOW_LEARN);
	case PROTOCOL_STOP:
		serving_make_opaque(r->flow, protocol_reason(f->protocol));
		return 1;
	default:
		return 0;
	}
}

/* One step of the framing, as a callback of bpf_loop(). */
static long request_step(__u32 i, struct reading *r)
{
	(void)i;
	if (frame_once(&r->frame))
		return 1;
	if (r->frame.event == PROTOCOL_BLANK)
		frame_end_head(&r->frame);
	return request_event(r) || frame_is_used_up(&r->frame);
}

/*
 * Where the reading goes on in this packet; FRAME_NOWHERE: nothing in it is to be read. In front
 * of a hole it waits: what is missing comes again, and what comes too early can be passed over
 * if it is body. If not, an acknowledgement shows that it is out of step (see respond).
 */
static __always_inline __u32 request_resume(const struct packet *p, struct serving *s)
{
	__u32 next = s->request_next, gap;

	if (!seq_before(next, p->seq + p->len))
		return FRAME_NOWHERE;
	if (!seq_before(next, p->seq))
		return next - p->seq;
	gap = p->seq - next;
	if (protocol_skippable(&s->requests) < gap)
		return FRAME_NOWHERE;
	protocol_skip(&s->requests, gap);
	s->request_next = p->seq;
	return 0;
}

/* Read what is new in this packet. */
VERIFIED_ALONE int request_read(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct scratch *s = scratch_get();
	struct reading r = {.skb = skb, .p = p, .flow = f};
	__u32 from;

	if (!s || !p || !f)
		return 0;
	from = request_resume(p, &f->serving);
	if (from == FRAME_NOWHERE)
		return 0;
	frame_start(&r.frame, skb, s, &f->serving.requests, p);
	r.frame.at = r.frame.window = from;
	if (bpf_loop(FRAME_STEPS_MAX, request_step, &r, 0) >= FRAME_STEPS_MAX)
		serving_make_opaque(f, REASON_WORK_CAP);
	f->serving.request_next = p->seq + p->len;
	if (protocol_in_head(&f->serving.requests))
		record_head_part(skb, p, p->seq + p->len - protocol_head_size(&f->serving.requests),
				 RECORD_SERVED_PART);
	return 0;
}

#endif
