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
	__type(value, struct framing_run);
} framing SEC(".maps");

struct context {
	struct __sk_buff *skb;
	struct framing_run *r;
};

static __always_inline void note(struct framing_run *r, __u32 at, __u32 event)
{
	struct framing_event *e = &r->events[r->count++ & (FRAMING_EVENTS - 1)];

	e->at = at;
	e->event = event;
}

/* Put the payload bytes at r->at into the window, if it has none of them. Returns 0 or -1. */
static __always_inline int fill(struct __sk_buff *skb, struct framing_run *r)
{
	__u32 n = r->len - r->at;

	if (r->at < r->base + r->filled || !n)
		return 0;
	if (n > PROTOCOL_WINDOW)
		n = PROTOCOL_WINDOW;
	/* Kernel 6.1 does not learn from the check above that n is not 0. */
	asm volatile("" : "+r"(n));
	n = ((n - 1) & (PROTOCOL_WINDOW - 1)) + 1;
	if (bpf_skb_load_bytes(skb, FRAMING_LINK + r->at, r->window.byte, n))
		return -1;
	r->base = r->at;
	r->filled = n;
	return 0;
}

static __always_inline void skip(struct framing_run *r, __u64 body)
{
	__u32 n = r->len - r->at;

	if (body < n)
		n = body;
	r->at += n;
	if (http1_skip(&r->http, n) == PROTOCOL_END)
		note(r, r->at, PROTOCOL_END);
}

/* Global, so that the verifier walks it once, on its own. */
__noinline int framing_scan(struct http1 *http, const struct protocol_window *window,
			    struct framing_run *r)
{
	if (!http || !window || !r)
		return -1;
	r->step = http1_scan(http, window, r->at - r->base, r->filled, &r->line);
	return 0;
}

static __always_inline void look(struct framing_run *r)
{
	__u32 line = r->line;

	framing_scan(&r->http, &r->window, r);
	r->steps++;
	r->at = r->base + r->step.next;
	if (line == PROTOCOL_NOWHERE && r->line != PROTOCOL_NOWHERE)
		note(r, r->base + r->line, PROTOCOL_LINE);
	if (r->step.event == PROTOCOL_NONE || r->step.event == PROTOCOL_VALUE)
		return;
	note(r, r->base + r->step.at, r->step.event);
	r->line = PROTOCOL_NOWHERE;
}

/* One step, as a callback of bpf_loop(). */
static long step(__u32 i, struct context *c)
{
	struct framing_run *r = c->r;
	__u64 body = http1_skippable(&r->http);

	(void)i;
	if (r->at >= r->len && !http1_pending(&r->http))
		return 1;
	if (body) {
		skip(r, body);
		return 0;
	}
	if (fill(c->skb, r))
		return 1;
	look(r);
	return r->step.event == PROTOCOL_STOP;
}

SEC("tc")
int frame(struct __sk_buff *skb)
{
	__u32 zero = 0;
	struct framing_run *r = bpf_map_lookup_elem(&framing, &zero);
	struct context c = {.skb = skb, .r = r};

	if (!r || skb->len <= FRAMING_LINK)
		return 0;
	if (r->anew) {
		http1_init(&r->http, PROTOCOL_REQUEST);
		r->line = PROTOCOL_NOWHERE;
	}
	r->len = skb->len - FRAMING_LINK;
	r->at = r->base = r->filled = 0;
	r->count = r->steps = 0;
	bpf_loop(FRAMING_STEPS, step, &c, 0);
	return 0;
}
