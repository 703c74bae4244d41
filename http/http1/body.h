/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Bodies: by length, in chunks, until the connection ends (RFC 9112, 6 and 7).
 *
 * Each stage takes what it can of the window and returns the event it met.
 */
#ifndef CTXPROP_HTTP1_BODY_H
#define CTXPROP_HTTP1_BODY_H

#include "fields.h"

/* A response that ends with its head, whatever its fields say. */
HTTP1_INLINE int http1_is_bodiless(const struct http1 *h)
{
	return h->status < 200 || h->status == 204 || h->status == 304 ||
	       h->flags & HTTP1_HEAD_METHOD;
}

/* The message is the last one: an end without bytes, at which the automaton stops. */
HTTP1_INLINE void http1_last(struct http1 *h, enum http1_stop why)
{
	h->left = 0;
	h->stop = why;
	h->state = HTTP1_AT_END;
}

/* A body that is framed by chunks or by a length, or none. */
HTTP1_INLINE void http1_framed_body(struct http1 *h)
{
	if (h->flags & HTTP1_CHUNKED) {
		h->left = 0;
		http1_enter(h, HTTP1_AT_CHUNK_SIZE);
		return;
	}
	h->state = h->left ? HTTP1_AT_BODY : HTTP1_AT_END;
}

HTTP1_INLINE void http1_response_body(struct http1 *h)
{
	if (h->status == 101) {
		http1_last(h, HTTP1_STOP_UPGRADED);
	} else if (h->flags & HTTP1_CONNECT && h->status / 100 == 2) {
		http1_last(h, HTTP1_STOP_CONNECT);
	} else if (http1_is_bodiless(h)) {
		h->left = 0;
		h->state = HTTP1_AT_END;
	} else if (h->flags & (HTTP1_CHUNKED | HTTP1_HAS_LENGTH)) {
		http1_framed_body(h);
	} else {
		h->state = HTTP1_AT_CLOSE;
	}
}

/* The message is over. What the caller said of the request holds until the final response. */
HTTP1_INLINE enum protocol_event http1_finish(struct http1 *h)
{
	if (h->stop)
		return http1_refuse(h, h->stop);
	if (h->kind == PROTOCOL_RESPONSE && h->status >= 200)
		h->flags &= ~HTTP1_CALLER_FLAGS;
	h->state = HTTP1_AT_START;
	return PROTOCOL_END;
}

/* The LF of the blank line: the end of a head, or of trailers. */
HTTP1_INLINE enum protocol_event http1_at_blank(struct http1 *h, struct cursor *c)
{
	if (cursor_byte(c) != '\n')
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	c->i++;
	if (h->flags & HTTP1_TRAILERS)
		return http1_finish(h);
	if (h->kind == PROTOCOL_RESPONSE)
		http1_response_body(h);
	else if (h->flags & HTTP1_CONNECT)
		http1_last(h, HTTP1_STOP_CONNECT);
	else
		http1_framed_body(h);
	return PROTOCOL_HEAD;
}

/* `n` bytes of a body or a chunk, of the `left` ones, have passed. */
HTTP1_INLINE enum protocol_event http1_passed(struct http1 *h, __u64 n)
{
	if (h->state == HTTP1_AT_CLOSE)
		return PROTOCOL_NONE;
	h->left -= n;
	if (h->left)
		return PROTOCOL_NONE;
	if (h->state == HTTP1_AT_BODY)
		return http1_finish(h);
	h->state = HTTP1_AT_CHUNK_CR;
	return PROTOCOL_NONE;
}

HTTP1_INLINE enum protocol_event http1_at_body(struct http1 *h, struct cursor *c)
{
	__u32 n = cursor_left(c);

	if (h->state != HTTP1_AT_CLOSE && n > h->left)
		n = h->left;
	c->i += n;
	return http1_passed(h, n);
}

/* The value of a hexadecimal digit; 16 or more: it is none. */
HTTP1_INLINE __u32 http1_hex(__u8 byte)
{
	__u8 letter = (byte | 0x20) - 'a';
	__u32 digit = http1_digit(byte);

	if (letter < 6)
		return letter + 10u;
	return digit < 10 ? digit : 16;
}

/* The line of a chunk ends with CR LF only: its bytes are counted, so no guess is harmless. */
HTTP1_INLINE enum protocol_event http1_at_chunk_size(struct http1 *h, struct cursor *c)
{
	for (__u32 n = 0; n < 8 && !cursor_is_empty(c); n++) {
		__u8 byte = cursor_byte(c);
		__u32 digit = http1_hex(byte);

		if (digit > 15)
			break;
		if (h->left > HTTP1_LENGTH_MAX)
			return http1_refuse(h, HTTP1_STOP_LENGTH);
		h->left = h->left << 4 | digit;
		h->pos = 1;
		c->i++;
	}
	if (cursor_is_empty(c) || http1_hex(cursor_byte(c)) < 16)
		return PROTOCOL_NONE;
	if (!h->pos)
		return http1_refuse(h, HTTP1_STOP_LENGTH);
	h->state = HTTP1_AT_CHUNK_EXT;
	return PROTOCOL_NONE;
}

/* What may follow the size: the end of the line, or extensions, which mean nothing here. */
HTTP1_INLINE enum protocol_event http1_at_chunk_ext(struct http1 *h, struct cursor *c)
{
	__u8 byte = cursor_byte(c);

	if (h->pos == 1 && byte != ';' && byte != '\r' && !http1_is_blank(byte))
		return http1_refuse(h, HTTP1_STOP_LENGTH);
	h->pos = 2;
	if (!http1_find(c, http1_controls))
		return PROTOCOL_NONE;
	byte = cursor_byte(c);
	if (byte != '\r' && byte != '\t')
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	if (byte == '\r')
		h->state = HTTP1_AT_CHUNK_SIZE_LF;
	c->i++;
	return PROTOCOL_NONE;
}

/* The last chunk has no bytes; trailers follow, in lines with CR LF. */
HTTP1_INLINE enum protocol_event http1_at_chunk_size_lf(struct http1 *h, struct cursor *c)
{
	if (cursor_byte(c) != '\n')
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	c->i++;
	h->state = HTTP1_AT_CHUNK;
	if (h->left)
		return PROTOCOL_NONE;
	h->flags &= ~HTTP1_BARE_LF;
	h->flags |= HTTP1_TRAILERS;
	h->state = HTTP1_AT_FIELD;
	return PROTOCOL_NONE;
}

/* CR and LF after the bytes of a chunk. */
HTTP1_INLINE enum protocol_event http1_at_chunk_end(struct http1 *h, struct cursor *c)
{
	int cr = h->state == HTTP1_AT_CHUNK_CR;

	if (cursor_byte(c) != (cr ? '\r' : '\n'))
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	c->i++;
	if (cr)
		h->state = HTTP1_AT_CHUNK_LF;
	else
		http1_enter(h, HTTP1_AT_CHUNK_SIZE);
	return PROTOCOL_NONE;
}

#endif
