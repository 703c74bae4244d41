/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, beside 2: the SETTINGS with which a server of HTTP/2 begins, which may limit how large
 * the header blocks of requests are. Nothing else of what it says is read.
 */
#ifndef CTXPROP_TC_IN_HTTP2_BPF_H
#define CTXPROP_TC_IN_HTTP2_BPF_H

#include "31-http2.bpf.h"

/* Has the first frame been read, or can it not be? */
static __always_inline int http2_settled(const struct http2 *h)
{
	return h->state == HTTP2_AT_STOP || (h->greeted && h->state != HTTP2_AT_SETTING);
}

/* One step, as a callback of bpf_loop(). */
static long http2_settings_step(__u32 i, struct http2_run *r)
{
	(void)i;
	return http2_settled(r->side) || http2_once(r);
}

/* Data of the peer. */
VERIFIED_ALONE int http2_settings(struct __sk_buff *skb, struct packet *p, struct flow *f)
{
	struct http2_run r = {.skb = skb, .p = p, .flow = f, .s = scratch_get()};
	struct flow_key key;

	if (!r.s || !p || !f)
		return 0;
	key = p->key;
	r.h = http2_lookup(&key, f);
	if (!r.h || http2_settled(&r.h->answers) || seq_before(r.h->answer_next, p->seq) ||
	    !seq_before(r.h->answer_next, p->seq + p->len))
		return 0; /* what is missing comes again */
	r.side = &r.h->answers;
	r.at = r.window = r.h->answer_next - p->seq;
	bpf_loop(PROTOCOL_WINDOW, http2_settings_step, &r, 0);
	r.h->answer_next = p->seq + p->len;
	return 0;
}

#endif
