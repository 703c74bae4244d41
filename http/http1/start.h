/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Request and status lines (RFC 9112, 3 and 4).
 *
 * Each stage takes what it can of the window and returns PROTOCOL_NONE, or refuses the stream.
 */
#ifndef CTXPROP_HTTP1_START_H
#define CTXPROP_HTTP1_START_H

#include "scan.h"

/* Forget the message before. */
HTTP1_INLINE void http1_reset(struct http1 *h)
{
	h->flags = h->kind == PROTOCOL_RESPONSE ? h->flags & HTTP1_CALLER_FLAGS : 0;
	h->left = 0;
	h->head = 0;
	h->status = 0;
	h->caller = 0;
	http1_enter(h, h->kind == PROTOCOL_RESPONSE ? HTTP1_AT_STATUS_VERSION : HTTP1_AT_METHOD);
}

/* Empty lines before a message are passed over (RFC 9112, 2.2). */
HTTP1_INLINE enum protocol_event http1_at_start(struct http1 *h, struct cursor *c)
{
	__u8 byte = cursor_byte(c);

	if (byte == '\n') {
		c->i++;
	} else if (byte == '\r') {
		h->state = HTTP1_AT_START_LF;
		c->i++;
	} else {
		http1_reset(h);
		if (byte == 0x16) {
			h->state = HTTP1_AT_TLS;
			c->i++;
		}
	}
	return PROTOCOL_NONE;
}

HTTP1_INLINE enum protocol_event http1_at_start_lf(struct http1 *h, struct cursor *c)
{
	if (cursor_byte(c) != '\n')
		return http1_refuse(h, HTTP1_STOP_NOT_HTTP);
	h->state = HTTP1_AT_START;
	c->i++;
	return PROTOCOL_NONE;
}

/* A TLS record of type handshake has the major version 3 as its second byte. */
HTTP1_INLINE enum protocol_event http1_at_tls(struct http1 *h, struct cursor *c)
{
	return http1_refuse(h, cursor_byte(c) == 0x03 ? HTTP1_STOP_TLS : HTTP1_STOP_NOT_HTTP);
}

/* The method is complete: which one matters to framing? */
HTTP1_INLINE enum protocol_event http1_end_method(struct http1 *h)
{
	/* Reserved for the preface, whatever version follows (RFC 9113, 3.4). */
	if (h->word == HTTP1_TEXT('P', 'R', 'I', 0, 0, 0, 0, 0))
		return http1_refuse(h, HTTP1_STOP_HTTP2);
	if (h->word == HTTP1_TEXT('C', 'O', 'N', 'N', 'E', 'C', 'T', 0))
		h->flags |= HTTP1_CONNECT;
	if (h->word == HTTP1_TEXT('H', 'E', 'A', 'D', 0, 0, 0, 0))
		h->flags |= HTTP1_HEAD_METHOD;
	http1_enter(h, HTTP1_AT_TARGET);
	return PROTOCOL_NONE;
}

/* Take the capital letters at hand, as far as `word` has room for them. */
HTTP1_INLINE void http1_take_capitals(struct http1 *h, struct cursor *c)
{
	__u64 word = cursor_word(c), ends = http1_no_capital(word);
	__u32 n = http1_before(ends), room = 8 - h->pos, left = cursor_left(c);

	if (n > room)
		n = room;
	if (n > left)
		n = left;
	if (!n)
		return;
	h->word |= word_low(word, n) << (8 * h->pos & 63);
	h->pos += n;
	c->i += n;
}

HTTP1_INLINE enum protocol_event http1_at_method(struct http1 *h, struct cursor *c)
{
	http1_take_capitals(h, c);
	for (__u32 n = 0; n < 8 && !cursor_is_empty(c); n++) {
		__u8 byte = cursor_byte(c);

		if (byte == ' ' && h->pos) {
			c->i++;
			return http1_end_method(h);
		}
		if (!http1_is_token(byte))
			return http1_refuse(h, HTTP1_STOP_NOT_HTTP);
		/* The methods that matter are shorter than a word. */
		if (h->pos < 8)
			h->word |= (__u64)byte << (8 * h->pos++ & 63);
		c->i++;
	}
	return PROTOCOL_NONE;
}

/* `pos` tells whether the target has begun. */
HTTP1_INLINE enum protocol_event http1_at_target(struct http1 *h, struct cursor *c)
{
	__u32 before = c->i;
	int found = http1_find(c, http1_no_target);

	if (c->i != before)
		h->pos = 1;
	if (!found)
		return PROTOCOL_NONE;
	if (cursor_byte(c) != ' ' || !h->pos)
		return http1_refuse(h, HTTP1_STOP_NOT_HTTP);
	c->i++;
	http1_enter(h, HTTP1_AT_VERSION);
	return PROTOCOL_NONE;
}

/* `word` holds a version. Returns PROTOCOL_NONE if it is one of HTTP/1. */
HTTP1_INLINE enum protocol_event http1_check_version(struct http1 *h)
{
	if (h->word == HTTP1_TEXT('H', 'T', 'T', 'P', '/', '1', '.', '1'))
		return PROTOCOL_NONE;
	if (h->word == HTTP1_TEXT('H', 'T', 'T', 'P', '/', '2', '.', '0'))
		return http1_refuse(h, HTTP1_STOP_HTTP2);
	if (h->word != HTTP1_TEXT('H', 'T', 'T', 'P', '/', '1', '.', '0'))
		return http1_refuse(h, HTTP1_STOP_NOT_HTTP);
	h->flags |= HTTP1_V10;
	return PROTOCOL_NONE;
}

HTTP1_INLINE enum protocol_event http1_at_version(struct http1 *h, struct cursor *c)
{
	if (!http1_collect(h, c, 8))
		return PROTOCOL_NONE;
	h->state = HTTP1_AT_START_END;
	return http1_check_version(h);
}

HTTP1_INLINE enum protocol_event http1_at_status_version(struct http1 *h, struct cursor *c)
{
	enum protocol_event event;

	if (!http1_collect(h, c, 8))
		return PROTOCOL_NONE;
	event = http1_check_version(h);
	if (!event)
		http1_enter(h, HTTP1_AT_STATUS);
	return event;
}

/* The value of a decimal digit; 10 or more: it is none. */
HTTP1_INLINE __u32 http1_digit(__u8 byte)
{
	return (__u8)(byte - '0');
}

/* SP and three digits, the first of which is not 0; `pos` counts them. */
HTTP1_INLINE enum protocol_event http1_at_status(struct http1 *h, struct cursor *c)
{
	for (__u32 n = 0; n < 4 && !cursor_is_empty(c); n++) {
		__u8 byte = cursor_byte(c);
		__u32 digit = http1_digit(byte);

		if (h->pos ? digit > 9 || (h->pos == 1 && !digit) : byte != ' ')
			return http1_refuse(h, HTTP1_STOP_NOT_HTTP);
		if (h->pos)
			h->status = 10 * h->status + digit;
		c->i++;
		if (h->pos++ == 3) {
			h->state = HTTP1_AT_START_END;
			break;
		}
	}
	return PROTOCOL_NONE;
}

/* What ends the start line decides how every line of the head ends. */
HTTP1_INLINE enum protocol_event http1_at_start_end(struct http1 *h, struct cursor *c)
{
	__u8 byte = cursor_byte(c);

	if (byte == '\r') {
		h->state = HTTP1_AT_LF;
	} else if (byte == '\n') {
		h->flags |= HTTP1_BARE_LF;
		h->state = HTTP1_AT_FIELD;
	} else if (byte == ' ' && h->kind == PROTOCOL_RESPONSE) {
		h->state = HTTP1_AT_REASON;
	} else {
		return http1_refuse(h, HTTP1_STOP_NOT_HTTP);
	}
	c->i++;
	return PROTOCOL_NONE;
}

HTTP1_INLINE enum protocol_event http1_at_reason(struct http1 *h, struct cursor *c)
{
	if (!http1_find(c, http1_controls))
		return PROTOCOL_NONE;
	if (cursor_byte(c) != '\t')
		return http1_at_start_end(h, c);
	c->i++;
	return PROTOCOL_NONE;
}

#endif
