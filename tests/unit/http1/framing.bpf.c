// SPDX-License-Identifier: GPL-2.0-only
/* The framing automaton under the verifier: frames one packet and writes down the events. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "framing.h"

char _license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct framing);
} framing SEC(".maps");

/* One packet's run; offsets are relative to the payload. */
struct run {
	struct __sk_buff *skb;
	struct framing *f;
	__u32 len;
	__u32 at;
	__u32 window;
	__u32 filled;
};

static __always_inline int fill(struct run *r)
{
	__u32 n = r->len - r->at;

	if (n > HTTP1_WINDOW)
		n = HTTP1_WINDOW;
	if (n == 0 || bpf_skb_load_bytes(r->skb, FRAMING_LINK + r->at, &r->f->window, n))
		return -1;
	r->window = r->at;
	r->filled = n;
	return 0;
}

static __always_inline void note(struct framing *f, __u32 at, __u32 event)
{
	struct framing_event *e = &f->events[f->count & (FRAMING_EVENTS - 1)];

	f->count++;
	e->at = at;
	e->event = event;
}

static __always_inline void skip(struct run *r, __u64 body)
{
	__u32 n = r->len - r->at;

	if (body < n)
		n = body;
	r->at += n;
	if (http1_skip(&r->f->http, n) == HTTP1_END)
		note(r->f, r->at, HTTP1_END);
}

/*
 * A step as a function of its own: the verifier looks at it once, and not again for every way
 * that leads to it. Returns struct http1_step in its 64 bits.
 */
__noinline __u64 framing_step(struct http1 *http, struct framing_window *w, __u32 i, __u32 len)
{
	struct http1_step s;

	if (!http || !w)
		return 0;
	s = http1_step(http, w->bytes, i, len);
	return s.next | (__u64)s.at << 32 | (__u64)s.event << 48;
}

/* Returns whether the run goes on. */
static __always_inline int look(struct run *r)
{
	__u64 s;

	if (r->at < r->len && r->at >= r->window + r->filled && fill(r))
		return 0;
	s = framing_step(&r->f->http, &r->f->window, r->at - r->window, r->filled);
	r->f->steps++;
	r->at = r->window + (__u32)s;
	if (s >> 48 != HTTP1_NONE)
		note(r->f, r->window + (__u16)(s >> 32), s >> 48);
	return s >> 48 != HTTP1_STOP;
}

/* A few steps, as a callback of bpf_loop(): each call of it costs as much as a step. */
static long steps(__u32 i, struct run *r)
{
	(void)i;
	for (int n = 0; n < FRAMING_TURN; n++) {
		__u64 body = http1_skippable(&r->f->http);

		if (r->at >= r->len && !http1_pending(&r->f->http))
			return 1;
		if (body)
			skip(r, body);
		else if (!look(r))
			return 1;
	}
	return 0;
}

SEC("tc")
int frame(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct framing *f = bpf_map_lookup_elem(&framing, &zero);
	struct run r = {.skb = skb, .f = f};

	if (!f || skb->len <= FRAMING_LINK)
		return 0;
	r.len = skb->len - FRAMING_LINK;
	if (f->anew) {
		http1_init(&f->http, f->kind);
		f->count = 0;
	}
	f->steps = 0;
	bpf_loop(FRAMING_STEPS / FRAMING_TURN, steps, &r, 0);
	return 0;
}
