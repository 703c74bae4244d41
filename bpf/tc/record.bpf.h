/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Beside the way: the records of requests for user space (records.h). Nothing here decides what
 * becomes of a packet, and without a reader nothing is written.
 */
#ifndef CTXPROP_TC_RECORD_BPF_H
#define CTXPROP_TC_RECORD_BPF_H

#include "20-flow.bpf.h"
#include "random.bpf.h"
#include "records.h"

_Static_assert((CALLING_OPEN_MAX & (CALLING_OPEN_MAX - 1)) == 0, "indices are masked");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RECORDS_SIZE);
} records __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct recording);
} recording __weak SEC(".maps");

static __always_inline struct recording *recording_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&recording, &zero);
}

/* As much of the kernel's structs as is needed; the places are found at load time. */
struct kernfs_node {
	__u64 id;
} __attribute__((preserve_access_index));

struct cgroup {
	struct kernfs_node *kn;
} __attribute__((preserve_access_index));

struct css_set {
	struct cgroup *dfl_cgrp;
} __attribute__((preserve_access_index));

struct task_struct {
	__s32 tgid;
	char comm[16];
	struct task_struct *group_leader;
	struct css_set *cgroups;
} __attribute__((preserve_access_index));

/*
 * Fill in cgroup and name of a process if it is the current one; else zeros. Uses no stack: calls
 * are as deep here as Linux 6.1 allows.
 */
static __always_inline void record_process(__u32 tgid, struct record_process *ret)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const __u64 *comm;

	__builtin_memset(ret, 0, sizeof(*ret));
	if (!tgid || (__u32)task->tgid != tgid)
		return;
	ret->cgroup = task->cgroups->dfl_cgrp->kn->id;
	comm = (const __u64 *)task->group_leader->comm;
	((__u64 *)ret->comm)[0] = comm[0];
	((__u64 *)ret->comm)[1] = comm[1];
}

/* CLOCK_BOOTTIME for all records of the packet at hand: the clock is read once. */
static __always_inline __u64 record_now(struct scratch *s)
{
	if (!s->now_ns)
		s->now_ns = bpf_ktime_get_boot_ns();
	return s->now_ns;
}

/* Does somebody read records? */
static __always_inline int records_wanted(struct scratch *s)
{
	const struct recording *r = recording_get();

	return r && r->until_ns && tick_ns(&s->tick) < r->until_ns;
}

/* Bytes of the ring that are not free. */
static __always_inline __u64 records_used(void)
{
	return bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);
}

/*
 * Is a request of this trace recorded? (Counted if not.) `end`: the last eight bytes of its id;
 * `used`: records_used(). If several CPUs raise `shed` at once, the lower number may stay until the
 * next request.
 */
static __always_inline int records_take(__u64 end, __u64 used)
{
	struct recording *r = recording_get();
	__u64 shed;

	if (!r)
		return 0;
	shed = recording_shed_at(used);
	if (shed > r->shed)
		r->shed = shed;
	if (recording_keeps(r->shed, bpf_be64_to_cpu(end)))
		return 1;
	count(REASON_RECORD_SHED);
	return 0;
}

/*
 * Readers poll the ring several times a second. A wake-up costs more than a record, so there is one
 * only for each step by which the ring fills. `size`: bytes that are added.
 */
static __always_inline __u64 records_wakeup(__u64 used, __u32 size)
{
	return recording_calls(used, size) ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/*
 * Hand over scratch.record, as far as it is filled. `used`: as of records_used(). Returns 0, or
 * -1: there is no room (counted).
 */
static __always_inline int record_begin_write(struct scratch *s, __u64 used)
{
	__u32 size = __builtin_offsetof(struct record_begin, head) + s->record.head_size;

	/* The rest of the ring is kept for the ends of requests. */
	if (used < RECORDS_FULL && size_within(&size, sizeof(s->record)) &&
	    !bpf_ringbuf_output(&records, &s->record, size, records_wakeup(used, size)))
		return 0;
	count(REASON_RECORD_LOST);
	return -1;
}

/*
 * Room in the ring for an end that comes now, for record_end_submit(). NULL: none (counted).
 */
static __always_inline struct record_end *record_end_reserve(struct scratch *s, __u8 kind,
							     __u64 span)
{
	struct record_end *e = bpf_ringbuf_reserve(&records, sizeof(*e), 0);

	if (!e) {
		count(REASON_RECORD_LOST);
		return NULL;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->kind = kind;
	e->span_id = span;
	e->time_ns = record_now(s);
	return e;
}

static __always_inline void record_end_submit(struct record_end *e)
{
	bpf_ringbuf_submit(e,
			   records_wakeup(records_used() - RECORDS_ROOM(sizeof(*e)), sizeof(*e)));
}

/* The connection, and where in the packet its head is: `size` bytes at `off`. */
static __always_inline void record_begin_fill(struct __sk_buff *skb, const struct packet *p,
					      struct scratch *s, __u32 off, __u32 size)
{
	struct record_begin *r = &s->record;
	const struct recording *wanted = recording_get();
	__u32 most = wanted ? wanted->head_max : 0;

	if (most > RECORD_HEAD_MAX)
		most = RECORD_HEAD_MAX;
	r->time_ns = record_now(s);
	r->netns = p->key.netns;
	r->local_port = p->key.sport;
	r->remote_port = p->key.dport;
	__builtin_memcpy(r->local, p->key.src, sizeof(r->local));
	__builtin_memcpy(r->remote, p->key.dst, sizeof(r->remote));
	if (size > most) {
		size = most;
		r->flags |= RECORD_SHORT;
	}
	r->head_size = size;
	if (!size_within(&size, RECORD_HEAD_MAX) || bpf_skb_load_bytes(skb, off, r->head, size))
		r->head_size = 0;
}

/*
 * A head that ends at payload offset `end` began with byte `start`: what of it is in this packet.
 * Returns whether its first bytes are not.
 */
static __always_inline int record_part(const struct packet *p, __u32 start, __u32 end, __u32 *off,
				       __u32 *size)
{
	int cut = seq_before(start, p->seq);
	__u32 from = cut ? 0 : start - p->seq;

	*off = p->payload + from;
	*size = end > from ? end - from : 0;
	return cut;
}

/* The packet ends within a head that began with byte `start`. `kind`: one of a part. */
VERIFIED_ALONE int record_head_part(struct __sk_buff *skb, const struct packet *p, __u32 start,
				    __u32 kind)
{
	struct scratch *s = scratch_get();
	__u32 off, size;

	/* Parts behind the first RECORD_HEAD_MAX bytes of a head are not kept. */
	if (!s || !p || !records_wanted(s) || p->seq - start >= RECORD_HEAD_MAX + p->len)
		return 0;
	record_part(p, start, p->len, &off, &size);
	s->record.kind = kind;
	s->record.flags = 0;
	s->record.head_start = start;
	s->record.added = 0;
	__builtin_memset(&s->record.process, 0, sizeof(s->record.process));
	record_begin_fill(skb, p, s, off, size);
	record_begin_write(s, records_used());
	return 0;
}

/* Request `r` has arrived, with a head that begins at `start` and ends at payload offset `end`. */
static __always_inline void record_arrived(struct __sk_buff *skb, const struct packet *p,
					   struct flow *f, struct request *r, __u32 start,
					   __u32 end)
{
	struct scratch *s = scratch_get();
	struct record_begin *b;
	__u32 off, size, cut;
	__u64 used;

	if (!s || !records_wanted(s))
		return;
	used = records_used();
	r->untold = !records_take(((const __u64 *)r->context.trace_id)[1], used);
	if (r->untold)
		return;
	b = &s->record;
	b->kind = RECORD_SERVED;
	cut = record_part(p, start, end, &off, &size);
	b->flags = (cut ? RECORD_CUT : 0) | (r->flags & REQUEST_ROOT ? RECORD_ROOT : 0) |
		   (f->requests > 1 ? RECORD_REUSED : 0);
	b->trace_flags = r->context.flags;
	b->evidence = b->veto = b->reason = 0;
	b->tgid = b->tid = b->added = 0;
	b->cookie = 0;
	__builtin_memset(&b->process, 0, sizeof(b->process));
	b->head_start = b->position = start;
	b->span_id = r->id;
	__builtin_memcpy(b->trace_id, r->context.trace_id, sizeof(b->trace_id));
	__builtin_memcpy(b->parent_id, r->parent_id, sizeof(b->parent_id));
	record_begin_fill(skb, p, s, off, size);
	r->untold = record_begin_write(s, used) != 0;
}

/* Request `r`, of the last slot, has arrived, with a head that ends at payload offset `end`. */
VERIFIED_ALONE int record_served(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				 struct request *r, __u32 end)
{
	if (!p || !f || !r)
		return 0;
	record_arrived(skb, p, f, r,
		       f->serving.open[(f->serving.open_end - 1) & (SERVING_OPEN_MAX - 1)].seq,
		       end);
	return 0;
}

/*
 * The same of HTTP/2, by its id and the number of the byte behind its header block. Of that nothing
 * is told: what it says can only be read by who has read all those before it.
 */
VERIFIED_ALONE int record_stream(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				 __u64 id, __u32 at)
{
	struct request *r = request_lookup(id);

	if (p && f && r)
		record_arrived(skb, p, f, r, at, 0);
	return 0;
}

/*
 * Where the oldest request ends: where the next one begins, else where what was received ends. That
 * may be more than was read here, if some came out of order.
 */
static __always_inline __u32 serving_read_until(const struct serving *s)
{
	if (s->open_first + 1 != s->open_end)
		return s->open[(s->open_first + 1) & (SERVING_OPEN_MAX - 1)].seq;
	return seq_before(s->request_next, s->acked) ? s->acked : s->request_next;
}

/*
 * The thread that has taken up request `r`, and when. `r` is NULL if the program was done with the
 * request before its response had left.
 */
static __always_inline void record_taker(const struct serving *serving, const struct request *r,
					 __u32 how, struct record_end *e)
{
	const struct recording *recording = recording_get();
	__u64 taken_ns = 0;

	if (r) {
		e->tgid = r->worker.tgid;
		e->tid = r->worker.tid;
		taken_ns = r->taken_ns;
	} else if (how == RECORD_ANSWERED) {
		e->tgid = serving->tgid;
		e->tid = serving->tid;
		taken_ns = serving->taken_ns;
	}
	if (taken_ns && recording)
		e->taken_ns = taken_ns + recording->boot_ns;
}

/* A response that is complete may have been sent to nobody. */
static __always_inline __u8 record_served_outcome(const struct serving *s, __u32 how)
{
	if (how == RECORD_ANSWERED)
		return s->client_closed == SERVING_CLOSED_BEFORE ? RECORD_CLIENT_CLOSED : how;
	return s->client_closed ? RECORD_CLIENT_CLOSED : how;
}

/* The request of span `id`, the oldest one of `serving`, is over. `how`: enum record_outcome. */
VERIFIED_ALONE int record_served_end(const struct serving *serving, __u64 id, __u32 how)
{
	struct scratch *s = scratch_get();
	const struct request *r;
	struct record_end *e;
	__u32 next;

	if (!s || !serving || !records_wanted(s))
		return 0;
	/* Of HTTP that is the end: what follows is another protocol. */
	if (protocol_status(&serving->responses) == 101)
		how = RECORD_ANSWERED;
	r = request_lookup(id);
	if (r && r->untold)
		return 0;
	e = record_end_reserve(s, RECORD_SERVED_END, id);
	if (!e)
		return 0;
	e->outcome = record_served_outcome(serving, how);
	record_taker(serving, r, how, e);
	record_process(e->tgid, &e->process);
	if (how == RECORD_ANSWERED) {
		next = serving_read_until(serving);
		e->status = protocol_status(&serving->responses);
		e->request_size =
		    next - serving->open[serving->open_first & (SERVING_OPEN_MAX - 1)].seq;
		e->response_size = serving->response_at - serving->response_start;
		e->first_ns = serving->first_ns;
		e->cookie = serving->cookie;
	}
	record_end_submit(e);
	return 0;
}

/* The request of span `id`, of a stream of HTTP/2, is over. `how`: enum record_outcome. */
VERIFIED_ALONE int record_stream_end(const struct serving *serving, __u64 id, __u32 how)
{
	struct scratch *s = scratch_get();
	const struct request *r = request_lookup(id);
	struct record_end *e;

	if (!s || !serving || !records_wanted(s) || (r && r->untold))
		return 0;
	e = record_end_reserve(s, RECORD_SERVED_END, id);
	if (!e)
		return 0;
	e->outcome = how != RECORD_ANSWERED && serving->client_closed ? RECORD_CLIENT_CLOSED : how;
	record_taker(serving, r, RECORD_CLOSED, e);
	record_process(e->tgid, &e->process);
	record_end_submit(e);
	return 0;
}

/* A response of a local server begins with byte `seq`. */
static __always_inline void record_responds(struct __sk_buff *skb, struct scratch *s,
					    struct serving *serving, __u32 seq)
{
	serving->response_start = seq;
	serving->first_ns = serving->cookie = serving->taken_ns = 0;
	serving->tgid = serving->tid = 0;
	if (!records_wanted(s))
		return;
	serving->first_ns = record_now(s);
	serving->cookie = bpf_get_socket_cookie(skb);
}

/* More of the response at hand is to come: by its end request `id` may be over. */
static __always_inline void record_responding(struct serving *serving, __u64 id)
{
	const struct request *r;

	if (!serving->first_ns || serving->tgid)
		return;
	r = request_lookup(id);
	if (!r)
		return;
	serving->taken_ns = r->taken_ns;
	serving->tgid = r->worker.tgid;
	serving->tid = r->worker.tid;
}

/* The ids of a call that has no header of ours: it belongs to what is known of its cause. */
static __always_inline void record_ids(struct scratch *s, struct record_begin *b, int known)
{
	__u64 *trace = (__u64 *)b->trace_id;

	b->span_id = random_next(&s->random) | 1;
	b->trace_flags = s->call.cause.flags;
	if (known) {
		__builtin_memcpy(b->trace_id, s->call.cause.trace_id, sizeof(b->trace_id));
		return;
	}
	trace[0] = random_next(&s->random);
	trace[1] = random_next(&s->random) | 1;
	b->trace_flags = 3;
}

/* The call waits for its answer from here on, if there is room for one more. */
static __always_inline void record_awaits(const struct packet *p, struct flow *f, __u64 span,
					  __u32 start)
{
	struct calling *c = &f->calling;
	struct calling_open *slot = &c->open[c->open_end & (CALLING_OPEN_MAX - 1)];

	if (calling_open_count(c) >= CALLING_OPEN_MAX) {
		count(REASON_RECORD_PIPELINED);
		return;
	}
	if (!calling_open_count(c)) {
		protocol_begin(&c->answers, PROTOCOL_RESPONSE);
		c->answer_next = p->ack;
		c->first_ns = 0;
	}
	slot->span = span;
	slot->seq = start;
	slot->method = protocol_method(&f->protocol);
	/* A full barrier: the slot is filled before its answer can be looked for. */
	__sync_lock_test_and_set(&c->open_end, c->open_end + 1);
}

/*
 * The call whose head began with byte `start`, and whose blank line is at payload offset `blank`;
 * scratch.call has its cause, scratch.edit the ids of its header, if it gets one.
 */
VERIFIED_ALONE int record_called(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				 __u32 start, __u32 blank)
{
	struct scratch *s = scratch_get();
	__u32 off, size, cut, known, told;
	struct record_begin *b;
	const __u64 *trace;
	__u64 used;

	if (!s || !p || !f || !records_wanted(s))
		return 0;
	trace = (const __u64 *)s->call.cause.trace_id;
	known = s->call.evidence != EVIDENCE_NONE && (trace[0] | trace[1]);
	b = &s->record;
	b->kind = RECORD_CALLED;
	cut = record_part(p, start, blank, &off, &size);
	b->reason = s->decision.reason;
	b->flags = (cut ? RECORD_CUT : 0) | (known ? 0 : RECORD_ROOT) |
		   (s->decision.named ? RECORD_NAMED : 0) |
		   (f->flags & FLOW_LOCAL ? 0 : RECORD_FORWARDED) |
		   (f->requests > 1 ? RECORD_REUSED : 0);
	b->head_start = start;
	b->position = edits_to_wire(&f->edits, start);
	b->cookie = f->flags & FLOW_LOCAL ? bpf_get_socket_cookie(skb) : 0;
	b->evidence = s->call.evidence;
	b->veto = s->call.veto;
	b->tgid = s->call.tgid;
	b->tid = s->call.tid;
	record_process(b->tgid, &b->process);
	b->added = s->decision.inserted;
	__builtin_memset(b->parent_id, 0, sizeof(b->parent_id));
	if (known)
		__builtin_memcpy(b->parent_id, s->call.cause.span_id, sizeof(b->parent_id));
	if (s->decision.named) {
		__builtin_memcpy(b->trace_id, s->edit.trace_id, sizeof(b->trace_id));
		__builtin_memcpy(&b->span_id, s->edit.span_id, sizeof(b->span_id));
		b->trace_flags = s->edit.trace_flags;
	} else {
		record_ids(s, b, known);
	}
	used = records_used();
	told = records_take(((const __u64 *)b->trace_id)[1], used);
	if (told) {
		record_begin_fill(skb, p, s, off, size);
		told = !record_begin_write(s, used);
	}
	record_awaits(p, f, told ? b->span_id : CALLING_UNTOLD, start);
	return 0;
}

/* The oldest call of `c` is over, at byte `at` of the peer; our side has sent until `sent`. */
static __always_inline void record_called_end_submit(const struct calling *c, __u32 sent, __u32 at,
						     __u32 how, struct record_end *e)
{
	const struct calling_open *slot = &c->open[c->open_first & (CALLING_OPEN_MAX - 1)];
	__u32 next = sent;

	if (calling_open_count(c) > 1)
		next = c->open[(c->open_first + 1) & (CALLING_OPEN_MAX - 1)].seq;
	e->outcome = how;
	if (how == RECORD_ANSWERED) {
		e->status = protocol_status(&c->answers);
		e->request_size = next - slot->seq;
		e->response_size = at - c->answer_start;
		e->first_ns = c->first_ns;
	}
	record_end_submit(e);
}

/* The oldest call of a connection is over, at byte `at` of the peer. */
VERIFIED_ALONE int record_called_end(struct flow *f, __u32 at, __u32 how)
{
	struct scratch *s = scratch_get();
	struct record_end *e;
	struct calling *c;
	__u64 span;

	if (!f || !s)
		return 0;
	c = &f->calling;
	/* Both sides may find that at once: only one of them takes it. */
	span = __sync_lock_test_and_set(&c->open[c->open_first & (CALLING_OPEN_MAX - 1)].span, 0);
	if (!span)
		return 0;
	e = span != CALLING_UNTOLD ? record_end_reserve(s, RECORD_CALLED_END, span) : NULL;
	if (e)
		record_called_end_submit(c, f->sent, at, how, e);
	c->first_ns = 0;
	c->open_first++;
	return 0;
}

/* How the calls of a connection end (enum record_outcome). */
struct record_cut {
	struct flow *flow;
	__u32 how;
};

/* The oldest one, as a callback of bpf_loop(). */
static long record_cut_step(__u32 i, struct record_cut *cut)
{
	(void)i;
	if (!calling_open_count(&cut->flow->calling))
		return 1;
	record_called_end(cut->flow, 0, cut->how);
	return 0;
}

/* No more answers come to the calls of a connection, or will be read. */
VERIFIED_ALONE int record_cut_calls(struct flow *f, __u32 how)
{
	struct record_cut cut = {.flow = f, .how = how};

	if (f)
		bpf_loop(CALLING_OPEN_MAX, record_cut_step, &cut, 0);
	return 0;
}

#endif
