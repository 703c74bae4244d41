/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Inbound, beside 4: requests to a local server of HTTP/2. Each header block that begins a stream
 * makes an entry in map `requests`, with the context that it brought or a new one. Who takes it up
 * the runtime tells, by its stream: what a thread reads there is of any.
 */
#ifndef CTXPROP_TC_IN_STREAMS_BPF_H
#define CTXPROP_TC_IN_STREAMS_BPF_H

#include "31-http2.bpf.h"
#include "in-40-request.bpf.h"
#include "streams.bpf.h"

/* Whose requests are read. (Pointers to both take more of the stack than there is.) */
static __always_inline struct streams *streams_asked(const struct http2_run *r)
{
	return (void *)r->side - __builtin_offsetof(struct streams, requests);
}

struct streams_decoding {
	struct traceparent_text *text;
	struct http2_code *code;
	const struct scratch *s;
	__u32 n;
};

/* What of the characters of a traceparent has room is put into its text. */
static __always_inline void stream_put(struct traceparent_text *text, __u8 character)
{
	__u32 pos = text->len;

	if (pos >= TRACEPARENT_TEXT_MAX) {
		traceparent_excess(text, character);
	} else if (index_within(&pos, 64)) {
		text->byte[pos] = character;
		text->len = pos + 1;
	}
}

/* One byte of a coded value in scratch.header, as a callback of bpf_loop(). */
static long stream_decode_step(__u32 i, struct streams_decoding *d)
{
	__u8 character;

	if (i >= d->n || !index_within(&i, REQUEST_PIECE_MAX))
		return 1;
	http2_code_feed(d->code, d->s->header[i]);
	for (int n = 0; n < HTTP2_CODE_CHARACTERS; n++) {
		character = http2_code_next(d->code);
		if (character)
			stream_put(d->text, character);
	}
	return 0;
}

/* A piece of a coded traceparent: `n` bytes at `off`. */
VERIFIED_ALONE int stream_decode(struct __sk_buff *skb, struct flow *f, struct streams *streams,
				 __u32 off, __u32 n)
{
	struct scratch *s = scratch_get();
	struct streams_decoding d = {.s = s, .n = n};

	if (!s || !f || !streams || request_load(skb, s, off, n))
		return 0;
	d.text = &f->serving.parent;
	d.code = &streams->code;
	bpf_loop(REQUEST_PIECE_MAX, stream_decode_step, &d, 0);
	return 0;
}

/* The next header block has no traceparent yet. */
static __always_inline void stream_forget(struct serving *serving, struct streams *streams)
{
	serving->parent.len = serving->parent.more = 0;
	streams->code = (struct http2_code){};
}

/*
 * The context that a header block brought. Returns whether it is valid, and to be believed. A field
 * of the dynamic table is known by its name only.
 */
static __always_inline int stream_context(const struct flow *f, struct scratch *s,
					  const struct streams *streams, struct request *ret)
{
	const struct traceparent_text *text = &f->serving.parent;
	__u32 flags = streams->requests.flags;

	if (flags & HTTP2_UNSURE || (flags & HTTP2_TRACEPARENT && !text->len &&
				     !streams->code.count && !streams->code.bad)) {
		count(REASON_SERVED_TABLE);
		return 0;
	}
	if (!(flags & HTTP2_TRACEPARENT))
		return 0;
	if (flags & HTTP2_TWO_PARENTS || !http2_code_ends(&streams->code)) {
		count(REASON_SERVED_INVALID);
		return 0;
	}
	if (!request_believe(f, s, ret))
		return 0;
	if (flags & HTTP2_TRACESTATE)
		count(REASON_SERVED_STATE);
	return 1;
}

/* A new request, with its context, or 0: there is no room for it. */
static __always_inline __u64 stream_begin(struct flow *f, struct scratch *s,
					  const struct flow_key *key, const struct streams *streams)
{
	__u64 id = request_draw(s);
	struct request *new = request_lookup(id) ?: &s->request;

	request_fill(new, f, key, id);
	request_belongs(f, s, new, stream_context(f, s, streams, new));
	return request_lookup(id) ? id : 0;
}

/* A header block that begins a stream has ended, at payload offset `end`. */
VERIFIED_ALONE int stream_arrived(struct __sk_buff *skb, const struct packet *p, struct flow *f,
				  struct streams *streams, __u32 end)
{
	struct scratch *s = scratch_get();
	__u32 place, stream;
	__u64 id;

	if (!s || !p || !f || !streams)
		return 0;
	stream = streams->requests.stream;
	id = stream_begin(f, s, &p->key, streams);
	stream_forget(&f->serving, streams);
	f->requests++;
	policy_count_in(f);
	place = streams_free(streams, stream);
	if (!id || !index_within(&place, STREAMS_MAX)) {
		count(REASON_SERVED_FULL);
		request_delete(id);
		return 0;
	}
	f->serving.open_end++;
	record_stream(skb, p, f, id, p->seq + end);
	streams->stream[place] = stream;
	/* A full barrier: the stream is there before its request can be found. */
	__sync_lock_test_and_set(&streams->request[place], id);
	return 0;
}

/* A piece of a value that ends where the reading has come to. */
static __always_inline void stream_value(struct http2_run *r)
{
	__u32 off = r->p->payload + r->place, n = r->at - r->place;

	if (!http2_is_parent(r->side->name) || r->side->flags & HTTP2_TRAILERS)
		return;
	if (r->side->coded)
		stream_decode(r->skb, r->flow, streams_asked(r), off, n);
	else
		request_parent(r->skb, r->flow, off, n);
}

/* One step, as a callback of bpf_loop(). */
static long streams_step(__u32 i, struct http2_run *r)
{
	(void)i;
	if (http2_once(r))
		return 1;
	if (r->event == PROTOCOL_VALUE)
		stream_value(r);
	else if (r->event == PROTOCOL_BLANK)
		stream_arrived(r->skb, r->p, r->flow, streams_asked(r), r->at);
	else if (r->event == PROTOCOL_END && r->side->type == HTTP2_RST_STREAM)
		stream_ends(r->flow, streams_asked(r), r->side->stream, REASON_SERVED_CUT);
	return r->event == PROTOCOL_STOP;
}

/* Read on in this packet, as `r` has it. */
static __always_inline void streams_go_on(struct http2_run *r, const struct packet *p,
					  struct flow *f)
{
	r->window = r->at;
	if (bpf_loop(FRAME_STEPS_MAX, streams_step, r, 0) >= FRAME_STEPS_MAX)
		streams_refuse(&r->s->served, f, REASON_WORK_CAP);
	else if (r->event == PROTOCOL_STOP)
		streams_refuse(&r->s->served, f, REASON_H2_MALFORMED);
	f->serving.request_next = p->seq + p->len;
}

/*
 * Read what is new in this packet. In front of a hole it waits, as for HTTP/1: what is missing
 * comes again.
 */
VERIFIED_ALONE int streams_read(struct __sk_buff *skb, const struct packet *p, struct flow *f)
{
	struct http2_run r = {.skb = skb, .flow = f, .s = scratch_get()};
	struct streams *streams;

	if (!r.s || !p || !f)
		return 0;
	r.s->served = p->key;
	streams = http2_served_lookup(&r.s->served);
	if (!streams)
		return 0;
	if (p->flags & TCP_URG) {
		streams_refuse(&r.s->served, f, REASON_URGENT);
		return 0;
	}
	r.p = (struct packet *)p;
	r.side = &streams->requests;
	r.at = http2_goes_on(r.side, p, f->serving.request_next, &r.event);
	if (r.at != FRAME_NOWHERE)
		streams_go_on(&r, p, f);
	return 0;
}

/* Does the first payload of a connection look like the preface of HTTP/2? Its frames tell. */
static __always_inline int streams_may_begin(struct __sk_buff *skb, const struct packet *p)
{
	__u8 first[4] = {};

	return use_http2 && p->len >= sizeof(first) &&
	       !bpf_skb_load_bytes(skb, p->payload, first, sizeof(first)) && first[0] == 'P' &&
	       first[1] == 'R' && first[2] == 'I' && first[3] == ' ';
}

/* A connection is read as HTTP/2 from its first byte. Returns 0; -1: there is no room. */
VERIFIED_ALONE int streams_begin(const struct packet *p, struct flow *f)
{
	struct scratch *s = scratch_get();
	struct flow_key key;

	if (!s || !p || !f)
		return -1;
	key = p->key;
	__builtin_memset(&s->streams, 0, sizeof(s->streams));
	http2_init(&s->streams.requests, PROTOCOL_REQUEST);
	http2_init(&s->streams.answers, PROTOCOL_RESPONSE);
	s->streams.answers.greeted = !!(f->flags & FLOW_GREETED);
	if (bpf_map_update_elem(&http2_served, &key, &s->streams, BPF_ANY))
		return -1;
	f->flags |= FLOW_HTTP2;
	return 0;
}

#endif
