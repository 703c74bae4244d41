/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Field lines (RFC 9112, 5) and the two fields that say how long a body is (6).
 *
 * Each stage takes what it can of the window and returns the event it met.
 */
#ifndef CTXPROP_HTTP1_FIELDS_H
#define CTXPROP_HTTP1_FIELDS_H

#include "scan.h"

/* A name that matters, as far as its whole words of eight bytes have been recognised. */
enum http1_name {
	HTTP1_NAME_NEW,
	HTTP1_NAME_CONTENT,  /* content- */
	HTTP1_NAME_TRANSFER, /* transfer */
	HTTP1_NAME_ENCODING, /* transfer-encodin */
	HTTP1_NAME_PARENT,   /* tracepar */
	HTTP1_NAME_STATE,    /* tracesta */
	HTTP1_NAME_ID,       /* x-reques */
	HTTP1_NAME_OTHER,
};

/* A Content-Length or chunk size above this is refused: the next digit would not fit. */
#define HTTP1_LENGTH_MAX (~0ull >> 5)

/* Progress within Content-Length. */
enum http1_length_pos { HTTP1_LENGTH_BEFORE, HTTP1_LENGTH_DIGITS, HTTP1_LENGTH_AFTER };

/* `pos` within Transfer-Encoding: length of the coding so far (chunked is shorter than
 * HTTP1_CODING_LONG), or that it is over. */
#define HTTP1_CODING_LONG  8
#define HTTP1_CODING_AFTER 9

/* Eight more bytes of a name, in lower case, are in `word`. */
HTTP1_INLINE __u8 http1_next_name(__u8 name, __u64 word)
{
	if (name == HTTP1_NAME_TRANSFER)
		return word == HTTP1_TEXT('-', 'e', 'n', 'c', 'o', 'd', 'i', 'n')
			   ? HTTP1_NAME_ENCODING
			   : HTTP1_NAME_OTHER;
	if (name != HTTP1_NAME_NEW)
		return HTTP1_NAME_OTHER;
	if (word == HTTP1_TEXT('c', 'o', 'n', 't', 'e', 'n', 't', '-'))
		return HTTP1_NAME_CONTENT;
	if (word == HTTP1_TEXT('t', 'r', 'a', 'n', 's', 'f', 'e', 'r'))
		return HTTP1_NAME_TRANSFER;
	if (word == HTTP1_TEXT('t', 'r', 'a', 'c', 'e', 'p', 'a', 'r'))
		return HTTP1_NAME_PARENT;
	if (word == HTTP1_TEXT('t', 'r', 'a', 'c', 'e', 's', 't', 'a'))
		return HTTP1_NAME_STATE;
	if (word == HTTP1_TEXT('x', '-', 'r', 'e', 'q', 'u', 'e', 's'))
		return HTTP1_NAME_ID;
	return HTTP1_NAME_OTHER;
}

/* One length only, and not beside a coding: anything else is read in two ways somewhere. */
HTTP1_INLINE enum protocol_event http1_begin_length(struct http1 *h)
{
	if (h->flags & (HTTP1_HAS_LENGTH | HTTP1_CODED))
		return http1_refuse(h, HTTP1_STOP_LENGTH);
	h->flags |= HTTP1_HAS_LENGTH;
	h->state = HTTP1_AT_LENGTH;
	return PROTOCOL_NONE;
}

/* HTTP/1.0 has no codings: some of its readers ignore the field (RFC 9112, 6.1). */
HTTP1_INLINE enum protocol_event http1_begin_coding(struct http1 *h)
{
	if (h->flags & (HTTP1_HAS_LENGTH | HTTP1_V10))
		return http1_refuse(h, HTTP1_STOP_LENGTH);
	h->flags |= HTTP1_CODED;
	h->state = HTTP1_AT_CODING;
	return PROTOCOL_NONE;
}

/* Of a request, the value is shown to the caller. */
HTTP1_INLINE enum protocol_event http1_begin_shown(struct http1 *h)
{
	if (h->kind == PROTOCOL_REQUEST)
		h->state = HTTP1_AT_TRACED;
	return PROTOCOL_NONE;
}

/* traceparent or tracestate. */
HTTP1_INLINE enum protocol_event http1_begin_traced(struct http1 *h, enum http1_flags seen)
{
	if (h->flags & seen & HTTP1_TRACEPARENT)
		h->flags |= HTTP1_TWO_PARENTS;
	h->flags |= seen;
	return http1_begin_shown(h);
}

/* The colon has been met; `word` holds the last one to seven bytes of the name. */
HTTP1_INLINE enum protocol_event http1_end_name(struct http1 *h)
{
	__u64 word = h->word;
	__u8 name = h->name;

	http1_enter(h, HTTP1_AT_VALUE);
	if (name == HTTP1_NAME_CONTENT && word == HTTP1_TEXT('l', 'e', 'n', 'g', 't', 'h', 0, 0))
		return http1_begin_length(h);
	if (name == HTTP1_NAME_ENCODING && word == 'g')
		return http1_begin_coding(h);
	if (name == HTTP1_NAME_PARENT && word == HTTP1_TEXT('e', 'n', 't', 0, 0, 0, 0, 0))
		return http1_begin_traced(h, HTTP1_TRACEPARENT);
	if (name == HTTP1_NAME_STATE && word == HTTP1_TEXT('t', 'e', 0, 0, 0, 0, 0, 0))
		return http1_begin_traced(h, HTTP1_TRACESTATE);
	if (name == HTTP1_NAME_ID && word == HTTP1_TEXT('t', '-', 'i', 'd', 0, 0, 0, 0))
		return http1_begin_shown(h);
	if (name == HTTP1_NAME_NEW && word == HTTP1_TEXT('u', 'p', 'g', 'r', 'a', 'd', 'e', 0))
		h->flags |= HTTP1_UPGRADE;
	return PROTOCOL_NONE;
}

/* One word of a name at most. No name that matters is a multiple of eight bytes long. */
HTTP1_INLINE enum protocol_event http1_at_name(struct http1 *h, struct cursor *c)
{
	__u64 word = cursor_word(c), ends = http1_no_name(word);
	__u32 end = http1_before(ends);
	__u32 n = cursor_left(c), room = 8 - h->pos;

	if (n > room)
		n = room;
	if (n > end)
		n = end;
	if (n) {
		word |= HTTP1_EACH(0x20);
		h->word |= word_low(word, n) << (8 * h->pos & 63);
		h->pos += n;
		c->i += n;
	}
	if (h->pos == 8) {
		h->name = http1_next_name(h->name, h->word);
		http1_enter(h, h->name == HTTP1_NAME_OTHER ? HTTP1_AT_NAME_REST : HTTP1_AT_NAME);
		return PROTOCOL_NONE;
	}
	if (n < end || cursor_is_empty(c))
		return PROTOCOL_NONE;
	if (cursor_byte(c) != ':')
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	c->i++;
	return http1_end_name(h);
}

HTTP1_INLINE enum protocol_event http1_at_name_rest(struct http1 *h, struct cursor *c)
{
	if (!http1_find(c, http1_no_name))
		return PROTOCOL_NONE;
	if (cursor_byte(c) != ':')
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	c->i++;
	h->state = HTTP1_AT_VALUE;
	return PROTOCOL_NONE;
}

/* The cursor stands on a byte that is to end a field line, in the way of the whole head. */
HTTP1_INLINE enum protocol_event http1_end_line(struct http1 *h, struct cursor *c)
{
	int bare = h->flags & HTTP1_BARE_LF;

	if (cursor_byte(c) != (bare ? '\n' : '\r'))
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	h->state = bare ? HTTP1_AT_FIELD : HTTP1_AT_LF;
	c->i++;
	return PROTOCOL_NONE;
}

HTTP1_INLINE enum protocol_event http1_at_value(struct http1 *h, struct cursor *c)
{
	if (!http1_find(c, http1_controls))
		return PROTOCOL_NONE;
	if (cursor_byte(c) != '\t')
		return http1_end_line(h, c);
	c->i++;
	return PROTOCOL_NONE;
}

/*
 * The same for a value that the caller wants to see: blanks before it are passed over, and counted
 * in `word`; the rest is returned piece by piece, this one from `ret_from` on. `pos` counts the
 * pieces: 0, 1, or 2 for more.
 */
HTTP1_INLINE enum protocol_event http1_at_traced(struct http1 *h, struct cursor *c, __u32 *ret_from)
{
	__u32 before = c->i;

	if (!h->pos) {
		for (__u32 n = 0; n < 8 && !cursor_is_empty(c) && http1_is_blank(cursor_byte(c));
		     n++)
			c->i++;
		h->word += c->i - before;
		if (cursor_is_empty(c) || http1_is_blank(cursor_byte(c)))
			return PROTOCOL_NONE;
		before = c->i;
	}
	http1_find(c, http1_controls);
	if (c->i == before && cursor_byte(c) == '\t')
		c->i++;
	else if (c->i == before && h->pos)
		return http1_end_line(h, c);
	h->pos = h->pos ? 2 : 1;
	*ret_from = before;
	return PROTOCOL_VALUE;
}

HTTP1_INLINE int http1_is_line_end(__u8 byte)
{
	return byte == '\r' || byte == '\n';
}

/* One byte of a Content-Length. Returns 0, or -1 if it cannot stand there. */
HTTP1_INLINE int http1_length_byte(struct http1 *h, __u8 byte)
{
	__u32 digit = http1_digit(byte);

	if (http1_is_blank(byte)) {
		if (h->pos == HTTP1_LENGTH_DIGITS)
			h->pos = HTTP1_LENGTH_AFTER;
		return 0;
	}
	if (digit > 9 || h->pos == HTTP1_LENGTH_AFTER || h->left > HTTP1_LENGTH_MAX)
		return -1;
	h->left = 10 * h->left + digit;
	h->pos = HTTP1_LENGTH_DIGITS;
	return 0;
}

HTTP1_INLINE enum protocol_event http1_length(struct http1 *h, struct cursor *c)
{
	for (__u32 n = 0; n < 8 && !cursor_is_empty(c); n++) {
		__u8 byte = cursor_byte(c);

		if (http1_is_line_end(byte) && h->pos != HTTP1_LENGTH_BEFORE)
			return http1_end_line(h, c);
		if (http1_length_byte(h, byte))
			return http1_refuse(h, HTTP1_STOP_LENGTH);
		c->i++;
	}
	return PROTOCOL_NONE;
}

/* A coding is complete, if one has begun. */
HTTP1_INLINE void http1_end_coding(struct http1 *h)
{
	if (h->word == HTTP1_TEXT('c', 'h', 'u', 'n', 'k', 'e', 'd', 0))
		h->flags |= HTTP1_CHUNKED;
	if (h->pos)
		h->pos = HTTP1_CODING_AFTER;
	h->word = 0;
}

/* One byte of a list of codings. Returns 0, or -1 if it cannot stand there. */
HTTP1_INLINE int http1_coding_byte(struct http1 *h, __u8 byte)
{
	/* A tab after a coding is part of it to some readers. */
	if (byte == ' ' || (byte == '\t' && !h->pos)) {
		http1_end_coding(h);
		return 0;
	}
	if (byte == ',' && h->pos) {
		http1_end_coding(h);
		h->pos = 0;
		return 0;
	}
	/* Nothing may come after chunked. */
	if (!http1_is_token(byte) || h->pos == HTTP1_CODING_AFTER || h->flags & HTTP1_CHUNKED)
		return -1;
	if (h->pos < HTTP1_CODING_LONG)
		h->word |= (__u64)(byte | 0x20) << (8 * h->pos++ & 63);
	return 0;
}

HTTP1_INLINE enum protocol_event http1_coding(struct http1 *h, struct cursor *c)
{
	for (__u32 n = 0; n < 8 && !cursor_is_empty(c); n++) {
		__u8 byte = cursor_byte(c);

		if (http1_is_line_end(byte) && h->pos) {
			http1_end_coding(h);
			return http1_end_line(h, c);
		}
		if (http1_coding_byte(h, byte))
			return http1_refuse(h, HTTP1_STOP_LENGTH);
		c->i++;
	}
	return PROTOCOL_NONE;
}

/*
 * One of the two for window[i..len): of the ways through them the verifier would follow each one
 * behind each of the ways to here. Returns how far it came; `state` says whether it refused.
 */
HTTP1_ALONE __u32 http1_framing_value(struct http1 *h, const struct protocol_window *w, __u32 i,
				      __u32 len)
{
	struct cursor c = {.window = w, .i = i, .len = len};

	if (!h || !w)
		return i;
	if (h->state == HTTP1_AT_LENGTH)
		http1_length(h, &c);
	else
		http1_coding(h, &c);
	return c.i;
}

HTTP1_INLINE enum protocol_event http1_at_framing_value(struct http1 *h, struct cursor *c)
{
	c->i = http1_framing_value(h, c->window, c->i, c->len);
	return h->state == HTTP1_AT_STOP ? PROTOCOL_STOP : PROTOCOL_NONE;
}

HTTP1_INLINE enum protocol_event http1_at_lf(struct http1 *h, struct cursor *c)
{
	if (cursor_byte(c) != '\n')
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	h->state = HTTP1_AT_FIELD;
	c->i++;
	return PROTOCOL_NONE;
}

/* The blank line begins. A request body in a coding that has no end is read by nobody alike. */
HTTP1_INLINE enum protocol_event http1_begin_blank(struct http1 *h, struct cursor *c)
{
	int bare = h->flags & HTTP1_BARE_LF;

	if (cursor_byte(c) != (bare ? '\n' : '\r'))
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	if (h->kind == PROTOCOL_REQUEST &&
	    (h->flags & (HTTP1_CODED | HTTP1_CHUNKED)) == HTTP1_CODED)
		return http1_refuse(h, HTTP1_STOP_LENGTH);
	h->state = HTTP1_AT_BLANK;
	if (!bare)
		c->i++;
	return h->flags & HTTP1_TRAILERS ? PROTOCOL_NONE : PROTOCOL_BLANK;
}

/* Can a name that matters begin with this letter? C, T, U and X in either case. */
HTTP1_INLINE int http1_may_matter(__u8 letter)
{
	return (letter & 0x40) &&
	       (1u << ('c' & 31) | 1u << ('t' & 31) | 1u << ('u' & 31) | 1u << ('x' & 31)) >>
		       (letter & 31) &
		   1;
}

/* The first byte of a line: a blank one, or a field. A folded line is refused. */
HTTP1_INLINE enum protocol_event http1_at_field(struct http1 *h, struct cursor *c)
{
	__u8 byte = cursor_byte(c);

	if (http1_is_line_end(byte))
		return http1_begin_blank(h, c);
	if (!http1_is_token(byte))
		return http1_refuse(h, HTTP1_STOP_MALFORMED);
	if (h->flags & HTTP1_TRAILERS) {
		h->state = HTTP1_AT_NAME_REST;
		c->i++;
		return PROTOCOL_NONE;
	}
	http1_enter(h, http1_may_matter(byte) ? HTTP1_AT_NAME : HTTP1_AT_NAME_REST);
	h->name = HTTP1_NAME_NEW;
	return PROTOCOL_LINE;
}

#endif
