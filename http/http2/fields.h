/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * Header blocks (RFC 7541): which fields they have, by name, as far as names matter. Nothing is
 * decoded but lengths and indices; what the dynamic table holds is known by number (struct
 * http2_entries).
 *
 * Each stage takes what it can of the part of the block that is at hand, and returns the event it
 * met.
 */
#ifndef CTXPROP_HTTP2_FIELDS_H
#define CTXPROP_HTTP2_FIELDS_H

#include "../cursor.h"
#include "state.h"

/* An index or a length of more than 28 bits is refused: no block is so long. */
#define HTTP2_SHIFT_MAX 21

/* Up to eight characters as a word that was loaded from them. */
#define HTTP2_TEXT(a, b, c, d, e, f, g, h)                                                         \
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 | (__u64)(d) << 24 | (__u64)(e) << 32 |   \
	 (__u64)(f) << 40 | (__u64)(g) << 48 | (__u64)(h) << 56)

/* The bytes of a name that is looked for, from `pos` on: 0 or 8. */
HTTP2_INLINE __u64 http2_name_word(__u8 name, __u32 pos)
{
	switch (name) {
	case HTTP2_NAME_PARENT:
		return pos ? HTTP2_TEXT('e', 'n', 't', 0, 0, 0, 0, 0)
			   : HTTP2_TEXT('t', 'r', 'a', 'c', 'e', 'p', 'a', 'r');
	case HTTP2_NAME_STATE:
		return pos ? HTTP2_TEXT('t', 'e', 0, 0, 0, 0, 0, 0)
			   : HTTP2_TEXT('t', 'r', 'a', 'c', 'e', 's', 't', 'a');
	case HTTP2_NAME_PARENT_HUFFMAN:
		return HTTP2_TEXT(0x4d, 0x83, 0x21, 0x6b, 0x1d, 0x85, 0xa9, 0x3f);
	default: /* HTTP2_NAME_STATE_HUFFMAN */
		return HTTP2_TEXT(0x4d, 0x83, 0x21, 0x50, 0x91, 0xa4, 0xbf, 0);
	}
}

/* Which name that is looked for has this length? `coded`: by Huffman's code. */
HTTP2_INLINE __u8 http2_name_of_length(__u32 length, int coded)
{
	if (coded)
		return length == 8   ? HTTP2_NAME_PARENT_HUFFMAN
		       : length == 7 ? HTTP2_NAME_STATE_HUFFMAN
				     : HTTP2_NAME_OTHER;
	return length == 11   ? HTTP2_NAME_PARENT
	       : length == 10 ? HTTP2_NAME_STATE
			      : HTTP2_NAME_OTHER;
}

HTTP2_INLINE int http2_is_parent(__u8 name)
{
	return name == HTTP2_NAME_PARENT || name == HTTP2_NAME_PARENT_HUFFMAN;
}

HTTP2_INLINE int http2_is_state(__u8 name)
{
	return name == HTTP2_NAME_STATE || name == HTTP2_NAME_STATE_HUFFMAN;
}

/* A new entry of the dynamic table: all others have moved on by one. */
HTTP2_INLINE void http2_entries_push(struct http2_entries *e, int named)
{
	e->old = e->old << 1 | e->young >> 63;
	e->young = e->young << 1 | (__u64)named;
}

/* Has the n-th youngest entry the name? n < HTTP2_ENTRIES. */
HTTP2_INLINE int http2_entries_named(const struct http2_entries *e, __u32 n)
{
	return (n < 64 ? e->young >> n : e->old >> (n - 64)) & 1;
}

/* The literal at hand becomes an entry of the dynamic table. */
HTTP2_INLINE void http2_insert(struct http2 *h)
{
	http2_entries_push(&h->parents, http2_is_parent(h->name));
	http2_entries_push(&h->states, http2_is_state(h->name));
	if (h->entries < HTTP2_ENTRIES)
		h->entries++;
}

/* The name that an index stands for. */
HTTP2_INLINE __u8 http2_name_at(struct http2 *h, __u32 index)
{
	__u32 n = index - (HTTP2_STATIC_MAX + 1);

	if (index <= HTTP2_STATIC_MAX)
		return HTTP2_NAME_OTHER;
	if (n >= h->entries || n >= HTTP2_ENTRIES) {
		h->flags |= HTTP2_UNSURE;
		return HTTP2_NAME_OTHER;
	}
	if (http2_entries_named(&h->parents, n))
		return HTTP2_NAME_PARENT;
	return http2_entries_named(&h->states, n) ? HTTP2_NAME_STATE : HTTP2_NAME_OTHER;
}

/* The first field of a request's block is a pseudo-header field (RFC 9113, 8.3). */
HTTP2_INLINE void http2_start_block(struct http2 *h, int pseudo)
{
	if (!(h->flags & HTTP2_STARTED) && !pseudo)
		h->flags |= HTTP2_TRAILERS;
	h->flags |= HTTP2_STARTED;
}

/* The block has a field of the name at hand. */
HTTP2_INLINE void http2_has_field(struct http2 *h)
{
	if (http2_is_parent(h->name)) {
		if (h->flags & HTTP2_TRACEPARENT)
			h->flags |= HTTP2_TWO_PARENTS;
		h->flags |= HTTP2_TRACEPARENT;
	} else if (http2_is_state(h->name)) {
		h->flags |= HTTP2_TRACESTATE;
	}
}

/* The index is read: of a whole field, of a name, or 0; or it is a size. */
HTTP2_INLINE enum protocol_event http2_end_index(struct http2 *h)
{
	__u32 index = h->number;

	h->field = HTTP2_AT_FIELD;
	if (h->form == HTTP2_TABLE_SIZE) /* only before the first field (RFC 7541, 4.2) */
		return h->flags & HTTP2_STARTED ? http2_refuse(h, HTTP2_STOP_BLOCK) : PROTOCOL_NONE;
	if (!index && h->form == HTTP2_INDEXED)
		return http2_refuse(h, HTTP2_STOP_BLOCK);
	if (!index) {
		h->field = HTTP2_AT_NAME_LENGTH;
		return PROTOCOL_NONE;
	}
	/* Of an entry of the dynamic table it is not known, and other things show it. */
	http2_start_block(h, index <= HTTP2_STATIC_PSEUDO || index > HTTP2_STATIC_MAX);
	h->name = http2_name_at(h, index);
	http2_has_field(h);
	if (h->form != HTTP2_INDEXED)
		h->field = HTTP2_AT_VALUE_LENGTH;
	return PROTOCOL_NONE;
}

/* A number that did not fit its prefix goes on (RFC 7541, 5.1). Returns 1 at its end, -1 if it is
 * too large, else 0. */
HTTP2_INLINE int http2_more(struct http2 *h, __u8 byte)
{
	if (h->shift > HTTP2_SHIFT_MAX)
		return -1;
	h->number += (__u32)(byte & 0x7f) << (h->shift & 31);
	h->shift += 7;
	return !(byte & 0x80);
}

/* The first byte of a number whose prefix has the bits of `mask`. Returns whether it is all. */
HTTP2_INLINE int http2_prefix(struct http2 *h, __u8 byte, __u8 mask)
{
	h->number = byte & mask;
	h->shift = 0;
	return h->number != mask;
}

HTTP2_INLINE enum protocol_event http2_at_field(struct http2 *h, struct cursor *c)
{
	__u8 byte = cursor_byte(c), mask;

	c->i++;
	if (byte & 0x80) {
		h->form = HTTP2_INDEXED;
		mask = 0x7f;
	} else if (byte & 0x40) {
		h->form = HTTP2_INCREMENTAL;
		mask = 0x3f;
	} else if (byte & 0x20) {
		h->form = HTTP2_TABLE_SIZE;
		mask = 0x1f;
	} else {
		h->form = HTTP2_LITERAL;
		mask = 0x0f;
	}
	if (http2_prefix(h, byte, mask))
		return http2_end_index(h);
	h->field = HTTP2_AT_INDEX;
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_at_index(struct http2 *h, struct cursor *c)
{
	int end = http2_more(h, cursor_byte(c));

	c->i++;
	if (end < 0)
		return http2_refuse(h, HTTP2_STOP_BLOCK);
	return end ? http2_end_index(h) : PROTOCOL_NONE;
}

/* A name of `number` bytes follows; the first one begins what is said of pseudo-header fields. */
HTTP2_INLINE enum protocol_event http2_begin_name(struct http2 *h)
{
	if (!h->number)
		return http2_refuse(h, HTTP2_STOP_BLOCK);
	h->name = http2_name_of_length(h->number, h->coded);
	h->done = 0;
	h->field = HTTP2_AT_NAME;
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_at_name_length(struct http2 *h, struct cursor *c)
{
	__u8 byte = cursor_byte(c);

	c->i++;
	h->coded = byte >> 7;
	if (http2_prefix(h, byte, 0x7f))
		return http2_begin_name(h);
	h->field = HTTP2_AT_NAME_LENGTH_MORE;
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_at_name_length_more(struct http2 *h, struct cursor *c)
{
	int end = http2_more(h, cursor_byte(c));

	c->i++;
	if (end < 0)
		return http2_refuse(h, HTTP2_STOP_BLOCK);
	return end ? http2_begin_name(h) : PROTOCOL_NONE;
}

/* The name is over, or nothing of what is left of it matters. */
HTTP2_INLINE void http2_end_name(struct http2 *h)
{
	if (h->number) {
		h->name = HTTP2_NAME_OTHER;
		h->field = HTTP2_AT_NAME_REST;
		return;
	}
	http2_has_field(h);
	h->field = HTTP2_AT_VALUE_LENGTH;
}

/* Does a name, by its first byte, begin with a colon? Coded that is 1011100. */
HTTP2_INLINE int http2_is_colon(const struct http2 *h, __u8 byte)
{
	return h->coded ? byte >> 1 == 0x5c : byte == ':';
}

/* As many bytes of a name as are in one word. */
HTTP2_INLINE enum protocol_event http2_at_name(struct http2 *h, struct cursor *c)
{
	__u32 n = 8 - (h->done & 7), left = cursor_left(c);
	__u64 differs;

	if (!h->done)
		http2_start_block(h, http2_is_colon(h, cursor_byte(c)));
	if (h->name == HTTP2_NAME_OTHER) {
		http2_end_name(h);
		return PROTOCOL_NONE;
	}
	if (n > left)
		n = left;
	if (n > h->number)
		n = h->number;
	differs = http2_name_word(h->name, h->done & 8) >> (8 * (h->done & 7)) ^ cursor_word(c);
	h->done += n;
	h->number -= n;
	c->i += n;
	if (word_low(differs, n)) {
		h->name = HTTP2_NAME_OTHER;
		h->field = h->number ? HTTP2_AT_NAME_REST : HTTP2_AT_VALUE_LENGTH;
		return PROTOCOL_NONE;
	}
	if (!h->number)
		http2_end_name(h);
	return PROTOCOL_NONE;
}

/* Pass over what is at hand of a string of which `number` bytes are left. */
HTTP2_INLINE void http2_pass_string(struct http2 *h, struct cursor *c, __u32 most)
{
	__u32 n = cursor_left(c);

	if (n > h->number)
		n = h->number;
	if (n > most)
		n = most;
	h->number -= n;
	c->i += n;
}

HTTP2_INLINE enum protocol_event http2_at_name_rest(struct http2 *h, struct cursor *c)
{
	http2_pass_string(h, c, ~0u);
	if (!h->number)
		h->field = HTTP2_AT_VALUE_LENGTH;
	return PROTOCOL_NONE;
}

HTTP2_INLINE void http2_end_value(struct http2 *h)
{
	if (h->form == HTTP2_INCREMENTAL)
		http2_insert(h);
	h->field = HTTP2_AT_FIELD;
}

HTTP2_INLINE enum protocol_event http2_begin_value(struct http2 *h)
{
	h->field = HTTP2_AT_VALUE;
	h->done = 0;
	if (!h->number)
		http2_end_value(h);
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_at_value_length(struct http2 *h, struct cursor *c)
{
	__u8 byte = cursor_byte(c);

	c->i++;
	h->coded = byte >> 7;
	if (http2_prefix(h, byte, 0x7f))
		return http2_begin_value(h);
	h->field = HTTP2_AT_VALUE_LENGTH_MORE;
	return PROTOCOL_NONE;
}

HTTP2_INLINE enum protocol_event http2_at_value_length_more(struct http2 *h, struct cursor *c)
{
	int end = http2_more(h, cursor_byte(c));

	c->i++;
	if (end < 0)
		return http2_refuse(h, HTTP2_STOP_BLOCK);
	return end ? http2_begin_value(h) : PROTOCOL_NONE;
}

/* What is at hand of a value; a piece of it is an event if its name is looked for. */
HTTP2_INLINE enum protocol_event http2_at_value(struct http2 *h, struct cursor *c)
{
	int shown = h->name != HTTP2_NAME_OTHER;
	__u32 from = c->i;

	http2_pass_string(h, c, shown ? 8 * PROTOCOL_SCAN_WORDS : ~0u);
	h->word = c->i - from;
	h->done = h->done < 2 ? h->done + 1 : 2;
	if (!h->number)
		http2_end_value(h);
	return shown ? PROTOCOL_VALUE : PROTOCOL_NONE;
}

/* Run one stage: `field` is where the automaton stands, and bytes of the block are left. */
#define HTTP2_FIELD_STAGE(field_, stage)                                                           \
	do {                                                                                       \
		if (!event && h->field == (field_) && !cursor_is_empty(c))                         \
			event = stage(h, c);                                                       \
	} while (0)

/* Most fields of most requests are single bytes, of which a step takes so many. */
#define HTTP2_INDICES_MAX 6

/* Some fields that are an index each, and one of another kind, as far as they are at hand. */
HTTP2_INLINE enum protocol_event http2_read_fields(struct http2 *h, struct cursor *c)
{
	enum protocol_event event = PROTOCOL_NONE;

	for (int i = 0; i < HTTP2_INDICES_MAX; i++)
		HTTP2_FIELD_STAGE(HTTP2_AT_FIELD, http2_at_field);
	HTTP2_FIELD_STAGE(HTTP2_AT_INDEX, http2_at_index);
	HTTP2_FIELD_STAGE(HTTP2_AT_NAME_LENGTH, http2_at_name_length);
	HTTP2_FIELD_STAGE(HTTP2_AT_NAME_LENGTH_MORE, http2_at_name_length_more);
	HTTP2_FIELD_STAGE(HTTP2_AT_NAME, http2_at_name);
	HTTP2_FIELD_STAGE(HTTP2_AT_NAME_REST, http2_at_name_rest);
	HTTP2_FIELD_STAGE(HTTP2_AT_VALUE_LENGTH, http2_at_value_length);
	HTTP2_FIELD_STAGE(HTTP2_AT_VALUE_LENGTH_MORE, http2_at_value_length_more);
	HTTP2_FIELD_STAGE(HTTP2_AT_VALUE, http2_at_value);
	return event;
}

#endif
