/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, 1: what the peer says about our bytes (acknowledgement, SACK, window) is said in wire
 * numbers; the sender gets it in app numbers.
 */
#ifndef CTXPROP_TC_IN_ACK_BPF_H
#define CTXPROP_TC_IN_ACK_BPF_H

#include "22-options.bpf.h"
#include "31-http2.bpf.h"
#include "60-write.bpf.h"
#include "carry.bpf.h"

/* A peer's segment lies this close to what our side acknowledged, or it is not believed. */
#define PEER_NEAR (1 << 24)

/* An acknowledgement on both sides of the translation. */
struct ack {
	__u32 app;
	__u32 offset;   /* the two sides differ */
	__u32 flying;   /* edits were in flight when it came */
	__u32 unacked;  /* bytes of edits beyond it */
	__u32 believed; /* it can be the peer's own: it acknowledges what was sent */
};

/*
 * Numbers that no peer could send (spoofed, or of an older connection) are translated all the
 * same, but change nothing: an edit that is forgotten too early breaks the connection. Nor do those
 * of a RST, which anybody can send: either it ends the flow, or it says nothing.
 */
static __always_inline int ack_plausible(const struct packet *p, const struct flow *f)
{
	__u32 distance = p->seq - f->peer_next + PEER_NEAR;

	return (p->flags & (TCP_ACK | TCP_RST | TCP_SYN)) == TCP_ACK && distance < 2 * PEER_NEAR;
}

/*
 * May it retire edits? A FIN only where TCP takes it for certain: not behind a hole, nor before
 * what our side has acknowledged.
 */
static __always_inline int ack_retires(const struct packet *p, const struct flow *f)
{
	return !(p->flags & TCP_FIN) ||
	       (!seq_before(f->peer_end, p->seq) && !seq_before(p->seq + p->len, f->peer_next));
}

/*
 * Translate a number below the highest acknowledgement: of a packet that was overtaken, or of bytes
 * that came twice. The edits that were before it then have to be counted: too low a number may lie
 * before the begin of the connection, and a SACK block below its packet's acknowledgement would be
 * read as a D-SACK.
 */
VERIFIED_ALONE __u32 ack_past(struct flow *f, __u32 w, int up)
{
	struct edits_past past;

	if (!f)
		return w;
	past = edits_past(&f->edits, w);
	return past.app + (up && past.wire != w);
}

/* The same as edits_to_app_up(), or edits_to_app(), of a flow that speaks HTTP/2. */
VERIFIED_ALONE __u32 ack_fields_edge(const struct flow *f, const struct http2_flow *h, __u32 w,
				     int up)
{
	__u32 app;

	if (!f || !h)
		return w;
	app = fields_to_app(&f->edits, &h->places, w);
	return app + (up && fields_to_wire(&f->edits, &h->places, app) != w);
}

/* The number that the peer's acknowledgement is of a flow that speaks HTTP/2. */
VERIFIED_ALONE __u32 ack_of_fields(const struct packet *p, const struct flow *f)
{
	const struct http2_flow *h;
	struct flow_key key;

	if (!p || !f)
		return 0;
	key = p->key; /* before 6.4 a map's key must be on the stack */
	h = http2_lookup(&key, f);
	return h ? ack_fields_edge(f, h, p->ack, 0) : edits_to_app(&f->edits, p->ack);
}

/* Translate, and retire what is acknowledged. */
static __always_inline void ack_translate(const struct packet *p, struct flow *f, struct ack *a)
{
	struct edits_view v = edits_view(&f->edits);

	a->app = v.count ? edits_to_app(&f->edits, p->ack) : p->ack - v.base;
	if (v.count && (f->flags & FLOW_HTTP2) && edits_among(&f->edits, a->app))
		a->app = ack_of_fields(p, f);
	a->offset = v.base || v.count;
	a->flying = v.count;
	if (v.base && seq_before(a->app, f->peer_ack))
		a->app = ack_past(f, p->ack, 0);
	/* What was added, less what of it stands before the acknowledgement: here the latter. */
	a->unacked = a->app - (p->ack - v.base);
	/* One more than was sent: a FIN has a number too. */
	a->believed = ack_plausible(p, f) && !seq_before(f->sent + 1, a->app);
	if (!v.count)
		return;
	a->unacked += edits_bytes_in(&f->edits, v);
	if (!a->believed || !ack_retires(p, f))
		return;
	carry_retire(f, a->app);
	edits_retire(&f->edits, a->app);
}

/* Remember the newest acknowledgement and the window that came with it. */
static __always_inline void ack_note(const struct packet *p, struct flow *f, const struct ack *a)
{
	/* The window of a SYN-ACK that comes again is not scaled (RFC 7323, 2.2). */
	if (!a->believed || seq_before(a->app, f->peer_ack) || !ack_retires(p, f))
		return;
	f->peer_ack = a->app;
	f->window = (__u32)p->window << (f->wscale & TCP_WSCALE_MASK);
}

/*
 * Bytes of a window that are kept from the app, for the header of its next request: if the app
 * filled the window to the last byte, none could be added. Only on connections that have had a
 * header, where the window is rewritten anyway.
 */
static __always_inline __u32 ack_kept(const struct packet *p, const struct ack *a, __u32 bytes)
{
	if (p->window < WINDOW_KEEP_FROM_UNITS || bytes < WINDOW_KEEP_FROM)
		return 0;
	return a->app != p->ack || a->unacked ? TRACEPARENT_LINE_LEN : 0;
}

/* The window that is left for app bytes when the edits, those in flight and the next, have taken
 * their part. */
static __always_inline __u16 ack_window_scaled(const struct packet *p, const struct ack *a,
					       __u8 scale)
{
	__u32 bytes = (__u32)p->window << scale, taken = a->unacked + ack_kept(p, a, bytes);

	return bytes > taken ? (bytes - taken) >> scale : 0;
}

static __always_inline __u16 ack_window(const struct packet *p, const struct flow *f,
					const struct ack *a)
{
	/* The window of a SYN-ACK that comes again is not scaled (RFC 7323, 2.2). */
	if (!(f->flags & FLOW_WSCALE) || (p->flags & TCP_SYN))
		return p->window;
	return ack_window_scaled(p, a, f->wscale & TCP_WSCALE_MASK);
}

/* NOP, NOP, timestamps: what nearly every segment without SACK blocks has. */
#define OPTIONS_ONLY_TIMESTAMPS 0x0101080a
#define SACK_BLOCKS_MAX         4

static __always_inline int sack_possible(struct __sk_buff *skb, const struct packet *p)
{
	__u32 header = packet_tcp_header(p);
	__be32 *options;

	/* The smallest: two NOPs, kind, length, one block. */
	if (header < sizeof(struct tcphdr) + 12)
		return 0;
	if (header > sizeof(struct tcphdr) + 12)
		return 1;
	options = packet_at(skb, p->l4 + sizeof(struct tcphdr), sizeof(*options));
	return options && *options != bpf_htonl(OPTIONS_ONLY_TIMESTAMPS);
}

static __always_inline __u32 sack_load(const __u8 *p)
{
	return bpf_ntohl(*(const volatile __u32 *)p);
}

static __always_inline void sack_store(__u8 *p, __u32 v)
{
	*(volatile __u32 *)p = bpf_htonl(v);
}

/* The rewriting of one SACK option, from scratch.header to scratch.header_new. */
struct sack_walk {
	struct scratch *s;
	struct flow *flow;
	const struct http2_flow *h; /* NULL: it does not speak HTTP/2 */
	__u32 from, end; /* offsets among the options: the next block, the end of the option */
	__u32 to;        /* where the next block that is kept goes */
};

/* An edge of a block: up or down to the next app byte. */
static __always_inline __u32 sack_edge(const struct sack_walk *s, __u32 w, int up)
{
	struct flow *f = s->flow;
	__u32 app;

	if (s->h)
		app = ack_fields_edge(f, s->h, w, up);
	else
		app = up ? edits_to_app_up(&f->edits, w) : edits_to_app(&f->edits, w);
	return seq_before(app, f->peer_ack) ? ack_past(f, w, up) : app;
}

/*
 * One block, as a callback of bpf_loop(). A block that becomes empty is taken out and the others
 * move down (a second copy of a block would be read as D-SACK, RFC 2883).
 */
static long sack_step(__u32 i, struct sack_walk *w)
{
	(void)i;
	__u32 from = w->from, to = w->to, left, right;

	if (from + 8 > w->end || from > TCP_OPTIONS_MAX - 8 || to > TCP_OPTIONS_MAX - 8)
		return 1;
	left = sack_load(w->s->header + from);
	right = sack_load(w->s->header + from + 4);
	left = sack_edge(w, left, 1);
	right = sack_edge(w, right, 0);
	w->from = from + 8;
	if (!seq_before(left, right))
		return 0;
	sack_store(w->s->header_new + to, left);
	sack_store(w->s->header_new + to + 4, right);
	w->to = to + 8;
	return 0;
}

/* What the option no longer needs is filled with NOPs. */
static long sack_pad(__u32 i, struct sack_walk *w)
{
	(void)i;
	__u32 to = w->to;

	if (to >= w->end || to >= TCP_OPTIONS_MAX)
		return 1;
	w->s->header_new[to] = TCPOPT_NOP;
	w->to = to + 1;
	return 0;
}

/* Translate the SACK option, if the segment has one. Returns 0 or a negative error. */
VERIFIED_ALONE int sack_packet(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct scratch *s = scratch_get();
	struct tcp_options o = {};
	struct sack_walk w = {.s = s, .flow = f};
	struct flow_key key;
	__u32 len, at;

	if (!s || !p || !f)
		return 0;
	if (f->flags & FLOW_HTTP2) {
		key = p->key;
		w.h = http2_lookup(&key, f);
	}
	len = tcp_options_read(skb, p, &o);
	at = o.sack;
	if (o.sack_size < 10 || at > TCP_OPTIONS_MAX - 10)
		return 0;
	__builtin_memcpy(s->header_new, s->header, TCP_OPTIONS_MAX);
	w.from = w.to = at + 2;
	w.end = at + o.sack_size;
	bpf_loop(SACK_BLOCKS_MAX, sack_step, &w, 0);
	if (w.to == at + 2)
		w.to = at; /* nothing is left: not even the option */
	else
		s->header_new[at + 1] = w.to - at;
	bpf_loop(SACK_BLOCKS_MAX * 8 + 2, sack_pad, &w, 0);
	count(REASON_SACK);
	return write_options(skb, p, s, len);
}

/* The verdict on a packet whose numbers were written, or with an error not. */
static __always_inline int ack_written(struct __sk_buff *skb, long err)
{
	if (err) {
		count(REASON_DROPPED);
		return DROP;
	}
	count(REASON_ACK);
	packet_mark(skb, SIDE_IN);
	return NEXT;
}

/* Write the translated numbers. Returns the verdict. */
static __always_inline int ack_write(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				     const struct ack *a)
{
	__u16 window = ack_window(p, f, a);
	long err = write_begin(skb);

	if (!err && sack_possible(skb, p))
		err = sack_packet(skb, p, f);
	return ack_written(skb, err ?: write_ack(skb, p, a->app, window));
}

#endif
