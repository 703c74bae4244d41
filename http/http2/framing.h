/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * HTTP/2 framing (RFC 9113): where each frame of a direction begins and ends, where a header block
 * has room for a field, and which of a few fields it has. One automaton for what clients and what
 * servers send, resumable at any byte: the same events at the same bytes, however it is cut.
 *
 *   PROTOCOL_VALUE  a piece of the value of a trace field; `coded` says how it is written
 *   PROTOCOL_BLANK  the end of a request's header block, where a field may be inserted: its frame
 *                   began http2_before_end() bytes before, or elsewhere if HTTP2_CONTINUED
 *   PROTOCOL_HEAD   the header block of a request, or of trailers, is complete
 *   PROTOCOL_END    nothing more comes on this stream, or it was reset (`type`)
 *   PROTOCOL_STOP   nothing from here on is read
 *
 * Of what servers send only SETTINGS are read.
 *
 * In doubt it stops: it never guesses where two readers could differ. Pure: no helper, no
 * allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_HTTP2_FRAMING_H
#define CTXPROP_HTTP2_FRAMING_H

#include "fields.h"

#define HTTP2_PREFACE_WORDS 3
/* Bytes of an entry of SETTINGS, and the one that limits header blocks (RFC 9113, 6.5.2). */
#define HTTP2_SETTING              6
#define HTTP2_MAX_HEADER_LIST_SIZE 6
#define HTTP2_PRIORITY_LEN         5

HTTP2_INLINE void http2_init(struct http2 *h, enum protocol_kind kind)
{
	__builtin_memset(h, 0, sizeof(*h));
	h->kind = kind;
	h->state = kind == PROTOCOL_REQUEST ? HTTP2_AT_PREFACE : HTTP2_AT_HEADER;
}

/* Collect bytes in `word` until it holds `want` (at most 8). Returns whether it does. */
HTTP2_INLINE int http2_collect(struct http2 *h, struct cursor *c, __u32 want)
{
	__u32 n = want - h->pos, left = cursor_left(c);

	if (cursor_is_empty(c))
		return 0;
	if (n > left)
		n = left;
	h->word |= word_low(cursor_word(c), n) << (8 * h->pos & 63);
	h->pos += n;
	c->i += n;
	return h->pos == want;
}

/* A word of the client's preface (RFC 9113, 3.4). */
HTTP2_INLINE __u64 http2_preface_word(__u32 n)
{
	if (n == 0)
		return HTTP2_TEXT('P', 'R', 'I', ' ', '*', ' ', 'H', 'T');
	return n == 1 ? HTTP2_TEXT('T', 'P', '/', '2', '.', '0', '\r', '\n')
		      : HTTP2_TEXT('\r', '\n', 'S', 'M', '\r', '\n', '\r', '\n');
}

HTTP2_INLINE enum protocol_event http2_at_preface(struct http2 *h, struct cursor *c)
{
	if (!http2_collect(h, c, 8))
		return PROTOCOL_NONE;
	if (h->word != http2_preface_word(h->number))
		return http2_refuse(h, HTTP2_STOP_NOT_HTTP2);
	h->number++;
	http2_enter(h, h->number < HTTP2_PREFACE_WORDS ? HTTP2_AT_PREFACE : HTTP2_AT_HEADER);
	return PROTOCOL_NONE;
}

/* The payload of the frame at hand is over. */
HTTP2_INLINE enum protocol_event http2_end_frame(struct http2 *h)
{
	int ends = h->type == HTTP2_RST_STREAM ||
		   ((h->type == HTTP2_DATA || h->type == HTTP2_HEADERS) &&
		    h->frame_flags & HTTP2_END_STREAM) ||
		   (h->type == HTTP2_CONTINUATION && h->flags & HTTP2_ENDS_STREAM);

	http2_enter(h, HTTP2_AT_HEADER);
	return ends && !h->open ? PROTOCOL_END : PROTOCOL_NONE;
}

/* `left` bytes follow of which nothing is read. */
HTTP2_INLINE enum protocol_event http2_pass_payload(struct http2 *h)
{
	h->state = HTTP2_AT_PAYLOAD;
	return h->left ? PROTOCOL_NONE : http2_end_frame(h);
}

/* A HEADERS frame: its stream begins, or ends with it, or it is a response. */
HTTP2_INLINE void http2_begin_block(struct http2 *h)
{
	h->flags = h->frame_flags & HTTP2_END_STREAM ? HTTP2_ENDS_STREAM : 0;
	h->block = 0;
	h->field = HTTP2_AT_FIELD;
	h->open = !(h->frame_flags & HTTP2_END_HEADERS);
	if (h->open)
		h->flags |= HTTP2_CONTINUED;
	if (h->stream & 1 && h->stream > h->last)
		h->last = h->stream;
	else
		h->flags |= HTTP2_TRAILERS;
}

HTTP2_INLINE enum protocol_event http2_begin_headers(struct http2 *h)
{
	int padded = !!(h->frame_flags & HTTP2_PADDED);
	int priority = !!(h->frame_flags & HTTP2_HAS_PRIORITY);
	__u32 before = padded + (priority ? HTTP2_PRIORITY_LEN : 0);

	if (!h->stream || h->left < before)
		return http2_refuse(h, HTTP2_STOP_FRAME);
	h->left -= before;
	h->pad = 0;
	http2_begin_block(h);
	http2_enter(h, padded ? HTTP2_AT_PAD : priority ? HTTP2_AT_PRIORITY : HTTP2_AT_BLOCK);
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_begin_settings(struct http2 *h)
{
	if (h->stream || h->left % HTTP2_SETTING)
		return http2_refuse(h, HTTP2_STOP_FRAME);
	if (!h->left)
		return http2_pass_payload(h);
	http2_enter(h, HTTP2_AT_SETTING);
	return PROTOCOL_NONE;
}

/* Its header is read. */
HTTP2_INLINE enum protocol_event http2_begin_frame(struct http2 *h)
{
	if (h->kind == PROTOCOL_RESPONSE)
		return h->type == HTTP2_SETTINGS ? http2_begin_settings(h) : http2_pass_payload(h);
	switch (h->type) {
	case HTTP2_HEADERS:
		return http2_begin_headers(h);
	case HTTP2_CONTINUATION:
		h->pad = 0;
		if (h->frame_flags & HTTP2_END_HEADERS)
			h->open = 0;
		h->state = HTTP2_AT_BLOCK;
		return PROTOCOL_NONE;
	case HTTP2_SETTINGS:
		return http2_begin_settings(h);
	case HTTP2_PUSH_PROMISE: /* only servers make one */
		return http2_refuse(h, HTTP2_STOP_FRAME);
	case HTTP2_RST_STREAM:
		if (h->left != 4)
			return http2_refuse(h, HTTP2_STOP_FRAME);
		return http2_pass_payload(h);
	default:
		return http2_pass_payload(h);
	}
}

/* May a frame of this type and stream come now? `stream` was that of the one before. */
HTTP2_INLINE int http2_frame_fits(const struct http2 *h, __u32 stream)
{
	if (!h->greeted)
		return h->type == HTTP2_SETTINGS && !(h->frame_flags & HTTP2_ACK);
	if (h->kind == PROTOCOL_RESPONSE)
		return 1;
	if (h->open)
		return h->type == HTTP2_CONTINUATION && h->stream == stream;
	return h->type != HTTP2_CONTINUATION;
}

/* Eight bytes of a frame's header are in `word`, this is the ninth (RFC 9113, 4.1). */
HTTP2_INLINE enum protocol_event http2_at_header_last(struct http2 *h, struct cursor *c)
{
	__u64 word = __builtin_bswap64(h->word);
	__u32 before = h->stream;

	h->left = word >> 40;
	h->type = word >> 32;
	h->frame_flags = word >> 24;
	h->stream = ((__u32)word << 8 | cursor_byte(c)) & 0x7fffffff;
	c->i++;
	if (!http2_frame_fits(h, before))
		return http2_refuse(h, h->greeted ? HTTP2_STOP_FRAME : HTTP2_STOP_NOT_HTTP2);
	h->greeted = 1;
	return http2_begin_frame(h);
}

HTTP2_INLINE enum protocol_event http2_at_header(struct http2 *h, struct cursor *c)
{
	if (http2_collect(h, c, 8))
		h->state = HTTP2_AT_HEADER_LAST;
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_at_pad(struct http2 *h, struct cursor *c)
{
	h->pad = cursor_byte(c);
	c->i++;
	if (h->pad > h->left)
		return http2_refuse(h, HTTP2_STOP_FRAME);
	h->left -= h->pad;
	http2_enter(h, h->frame_flags & HTTP2_HAS_PRIORITY ? HTTP2_AT_PRIORITY : HTTP2_AT_BLOCK);
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_at_priority(struct http2 *h, struct cursor *c)
{
	if (http2_collect(h, c, HTTP2_PRIORITY_LEN))
		http2_enter(h, HTTP2_AT_BLOCK);
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_at_setting(struct http2 *h, struct cursor *c)
{
	__u64 word;

	if (!http2_collect(h, c, HTTP2_SETTING))
		return PROTOCOL_NONE;
	word = __builtin_bswap64(h->word);
	if (word >> 48 == HTTP2_MAX_HEADER_LIST_SIZE)
		h->list_max = (__u32)(word >> 16) ?: 1; /* 0 is as good as 1: no field fits */
	h->left -= HTTP2_SETTING;
	http2_enter(h, HTTP2_AT_SETTING);
	return h->left ? PROTOCOL_NONE : http2_end_frame(h);
}

/* The part of a header block that this frame has is over. */
HTTP2_INLINE enum protocol_event http2_end_part(struct http2 *h)
{
	if (h->open) { /* a CONTINUATION follows */
		h->left = h->pad;
		return http2_pass_payload(h);
	}
	if (h->field != HTTP2_AT_FIELD)
		return http2_refuse(h, HTTP2_STOP_BLOCK);
	if ((h->flags & (HTTP2_STARTED | HTTP2_TRAILERS)) == HTTP2_STARTED) {
		h->state = HTTP2_AT_BLOCK_END;
		return PROTOCOL_BLANK;
	}
	h->state = HTTP2_AT_HEAD_END;
	return PROTOCOL_HEAD;
}

/* Fields of the block, or what is at hand of them. */
HTTP2_INLINE enum protocol_event http2_at_block(struct http2 *h, struct cursor *c)
{
	struct cursor part = *c;
	__u32 n = cursor_left(c);
	enum protocol_event event;

	if (n > h->left)
		n = h->left;
	part.len = part.i + n;
	event = http2_read_fields(h, &part);
	n = part.i - c->i;
	h->left -= n;
	h->block += n;
	c->i = part.i;
	return event;
}

/* Is an event due that needs no further byte? A step with i == len fetches it. */
HTTP2_INLINE int http2_pending(const struct http2 *h)
{
	return h->state == HTTP2_AT_BLOCK_END || h->state == HTTP2_AT_HEAD_END ||
	       (h->state == HTTP2_AT_BLOCK && !h->left);
}

/* Events without bytes. */
HTTP2_INLINE enum protocol_event http2_due(struct http2 *h)
{
	if (h->state == HTTP2_AT_BLOCK && !h->left)
		return http2_end_part(h);
	if (h->state == HTTP2_AT_BLOCK_END) {
		h->state = HTTP2_AT_HEAD_END;
		return PROTOCOL_HEAD;
	}
	if (h->state != HTTP2_AT_HEAD_END)
		return PROTOCOL_NONE;
	h->left = h->pad;
	return http2_pass_payload(h);
}

/* At PROTOCOL_BLANK, unless HTTP2_CONTINUED: bytes from the begin of the frame to here. */
HTTP2_INLINE __u32 http2_before_end(const struct http2 *h)
{
	return HTTP2_FRAME_HEADER + !!(h->frame_flags & HTTP2_PADDED) +
	       (h->frame_flags & HTTP2_HAS_PRIORITY ? HTTP2_PRIORITY_LEN : 0) + h->block;
}

/* At PROTOCOL_BLANK, unless HTTP2_CONTINUED: the length that the frame states. */
HTTP2_INLINE __u32 http2_frame_length(const struct http2 *h)
{
	return http2_before_end(h) - HTTP2_FRAME_HEADER + h->pad;
}

/* How many of the next bytes need not be looked at. */
HTTP2_INLINE __u64 http2_skippable(const struct http2 *h)
{
	return h->state == HTTP2_AT_PAYLOAD ? h->left : 0;
}

/* Pass over n <= http2_skippable() bytes. Returns PROTOCOL_END if the stream ends with them. */
HTTP2_INLINE enum protocol_event http2_skip(struct http2 *h, __u64 n)
{
	if (!n)
		return PROTOCOL_NONE;
	h->left -= n;
	return h->left ? PROTOCOL_NONE : http2_end_frame(h);
}

/* Run one stage: `state` is where the automaton stands, and bytes are left. */
#define HTTP2_STAGE(state_, stage)                                                                 \
	do {                                                                                       \
		if (!event && h->state == (state_) && !cursor_is_empty(&c))                        \
			event = stage(h, &c);                                                      \
	} while (0)

/*
 * Consume bytes of window[i..len) up to the next event, or as far as a step goes: to the end of a
 * frame's header, or of some fields.
 */
HTTP2_INLINE struct protocol_step http2_scan(struct http2 *h, const struct protocol_window *window,
					     __u32 i, __u32 len)
{
	struct cursor c = {.window = window, .i = i, .len = len};
	enum protocol_event event = http2_due(h);
	__u32 at;

	HTTP2_STAGE(HTTP2_AT_PREFACE, http2_at_preface);
	HTTP2_STAGE(HTTP2_AT_HEADER, http2_at_header);
	HTTP2_STAGE(HTTP2_AT_HEADER_LAST, http2_at_header_last);
	HTTP2_STAGE(HTTP2_AT_PAD, http2_at_pad);
	HTTP2_STAGE(HTTP2_AT_PRIORITY, http2_at_priority);
	HTTP2_STAGE(HTTP2_AT_SETTING, http2_at_setting);
	HTTP2_STAGE(HTTP2_AT_BLOCK, http2_at_block);
	at = event == PROTOCOL_VALUE ? c.i - (__u32)h->word : c.i;
	if (!event)
		event = http2_due(h);
	if (h->state == HTTP2_AT_STOP)
		event = PROTOCOL_STOP;
	return (struct protocol_step){.next = c.i, .at = at, .event = event};
}

#endif
