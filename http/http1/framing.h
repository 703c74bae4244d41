/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * HTTP/1 framing (RFC 9112): where each message of a stream begins and ends, where its head
 * has room for a field, and which of a few fields it has. One automaton for requests and
 * responses, resumable at any byte: the same events at the same bytes, however it is cut.
 *
 * In doubt it stops: it never guesses where two readers could differ.
 *
 * Pure: no helper, no allocation; compiled for BPF and natively.
 */
#ifndef CTXPROP_HTTP1_FRAMING_H
#define CTXPROP_HTTP1_FRAMING_H

#include "state.h"
#include "scan.h"
#include "start.h"
#include "fields.h"
#include "body.h"

/*
 * Begin a stream. Before each response the caller may set HTTP1_HEAD_METHOD or HTTP1_CONNECT
 * in `flags`, if its request had that method; PROTOCOL_END of a final response clears them.
 */
static inline void http1_init(struct http1 *h, enum protocol_kind kind)
{
	__builtin_memset(h, 0, sizeof(*h));
	h->kind = kind;
}

/*
 * Is an event due that needs no further byte: PROTOCOL_END of a message without body, or
 * PROTOCOL_STOP after the last one? A step with i == len fetches it; else the next step with
 * bytes does, before it consumes any.
 */
static inline int http1_pending(const struct http1 *h)
{
	return h->state == HTTP1_AT_END;
}

/*
 * A head has just ended: if nothing of its message is still to come, and nothing against the next
 * one, let it be over without a step. For those to whom PROTOCOL_END means nothing.
 */
HTTP1_INLINE void http1_end_bodiless(struct http1 *h)
{
	if (http1_pending(h) && !h->stop)
		http1_finish(h);
}

/* Has a head begun that is not yet complete? */
static inline int http1_in_head(const struct http1 *h)
{
	return h->state > HTTP1_AT_START_LF && h->state <= HTTP1_AT_BLANK;
}

/* Is a body still to come, or the rest of one? */
static inline int http1_in_body(const struct http1 *h)
{
	return h->state > HTTP1_AT_BLANK && h->state < HTTP1_AT_END;
}

/* How many of the next bytes belong to a body and need not be looked at. ~0: all of them. */
static inline __u64 http1_skippable(const struct http1 *h)
{
	if (h->state == HTTP1_AT_CLOSE)
		return ~0ull;
	return h->state == HTTP1_AT_BODY || h->state == HTTP1_AT_CHUNK ? h->left : 0;
}

/* Pass over n <= http1_skippable() bytes. Returns PROTOCOL_END if they complete the message. */
static inline enum protocol_event http1_skip(struct http1 *h, __u64 n)
{
	return n ? http1_passed(h, n) : PROTOCOL_NONE;
}

/* Run one stage: `state` is where the automaton stands, and bytes are left. */
#define HTTP1_STAGE(state_, stage)                                                                 \
	do {                                                                                       \
		if (!event && h->state == (state_) && !cursor_is_empty(c))                         \
			event = stage(h, c);                                                       \
	} while (0)

/* The stages of a start line, in their order: a short one passes in one step. */
HTTP1_INLINE enum protocol_event http1_start_line(struct http1 *h, struct cursor *c)
{
	enum protocol_event event = PROTOCOL_NONE;

	HTTP1_STAGE(HTTP1_AT_START, http1_at_start);
	HTTP1_STAGE(HTTP1_AT_START_LF, http1_at_start_lf);
	HTTP1_STAGE(HTTP1_AT_TLS, http1_at_tls);
	HTTP1_STAGE(HTTP1_AT_METHOD, http1_at_method);
	HTTP1_STAGE(HTTP1_AT_TARGET, http1_at_target);
	HTTP1_STAGE(HTTP1_AT_VERSION, http1_at_version);
	HTTP1_STAGE(HTTP1_AT_STATUS_VERSION, http1_at_status_version);
	HTTP1_STAGE(HTTP1_AT_STATUS, http1_at_status);
	HTTP1_STAGE(HTTP1_AT_START_END, http1_at_start_end);
	HTTP1_STAGE(HTTP1_AT_REASON, http1_at_reason);
	return event;
}

/* The stages of a field line, from its second byte to the first one of the next line. */
HTTP1_INLINE enum protocol_event http1_field_line(struct http1 *h, struct cursor *c)
{
	enum protocol_event event = PROTOCOL_NONE;

	HTTP1_STAGE(HTTP1_AT_NAME, http1_at_name);
	HTTP1_STAGE(HTTP1_AT_NAME_REST, http1_at_name_rest);
	HTTP1_STAGE(HTTP1_AT_LENGTH, http1_at_framing_value);
	HTTP1_STAGE(HTTP1_AT_CODING, http1_at_framing_value);
	HTTP1_STAGE(HTTP1_AT_VALUE, http1_at_value);
	HTTP1_STAGE(HTTP1_AT_LF, http1_at_lf);
	HTTP1_STAGE(HTTP1_AT_FIELD, http1_at_field);
	return event;
}

HTTP1_INLINE enum protocol_event http1_body_stages(struct http1 *h, struct cursor *c)
{
	enum protocol_event event = PROTOCOL_NONE;

	HTTP1_STAGE(HTTP1_AT_BLANK, http1_at_blank);
	if (event)
		return event;
	HTTP1_STAGE(HTTP1_AT_CHUNK_SIZE, http1_at_chunk_size);
	HTTP1_STAGE(HTTP1_AT_CHUNK_EXT, http1_at_chunk_ext);
	HTTP1_STAGE(HTTP1_AT_CHUNK_SIZE_LF, http1_at_chunk_size_lf);
	if (http1_skippable(h) && !cursor_is_empty(c))
		return http1_at_body(h, c);
	HTTP1_STAGE(HTTP1_AT_CHUNK_CR, http1_at_chunk_end);
	HTTP1_STAGE(HTTP1_AT_CHUNK_LF, http1_at_chunk_end);
	return event;
}
#undef HTTP1_STAGE

/* Field lines that one call of http1_scan() passes. */
#define HTTP1_SCAN_LINES 4

/*
 * The stages of a head, over up to `lines` field lines. With more than one, the event of a
 * line is not returned: the first one's place is put down in `line` instead.
 */
HTTP1_INLINE enum protocol_event http1_head_stages(struct http1 *h, struct cursor *c, __u32 lines,
						   __u32 *line)
{
	enum protocol_event event = PROTOCOL_NONE;
	__u32 before = c->i;

	if (h->state <= HTTP1_AT_START_END)
		event = http1_start_line(h, c);
	for (__u32 n = 0; n < lines && !event; n++) {
		if (h->state <= HTTP1_AT_START_END || h->state >= HTTP1_AT_TRACED ||
		    cursor_is_empty(c))
			break;
		event = http1_field_line(h, c);
		if (event != PROTOCOL_LINE || lines == 1)
			continue;
		if (*line == PROTOCOL_NOWHERE)
			*line = c->i;
		event = PROTOCOL_NONE;
	}
	h->head += c->i - before;
	if (event == PROTOCOL_BLANK && h->head > HTTP1_HEAD_CAP)
		h->flags |= HTTP1_HEAD_LONG;
	return event;
}

/* A piece of a value that is shown to the caller, from `ret_from` on. */
HTTP1_INLINE enum protocol_event http1_traced(struct http1 *h, struct cursor *c, __u32 *ret_from)
{
	__u32 before = c->i;
	enum protocol_event event = PROTOCOL_NONE;

	if (h->state == HTTP1_AT_TRACED && !cursor_is_empty(c))
		event = http1_at_traced(h, c, ret_from);
	h->head += c->i - before;
	return event;
}

/* From within a shown value, if that is where `h` stands, up to the next one. */
HTTP1_INLINE enum protocol_event http1_head(struct http1 *h, struct cursor *c, __u32 lines,
					    __u32 *line, __u32 *ret_from)
{
	enum protocol_event event = http1_traced(h, c, ret_from);

	if (!event && h->state < HTTP1_AT_TRACED && !cursor_is_empty(c))
		event = http1_head_stages(h, c, lines, line);
	return event ? event : http1_traced(h, c, ret_from);
}

/* As far as one call goes from where `h` and `c` stand. */
HTTP1_INLINE enum protocol_event http1_advance(struct http1 *h, struct cursor *c, __u32 lines,
					       __u32 *line, __u32 *ret_from)
{
	if (h->state == HTTP1_AT_STOP)
		return PROTOCOL_STOP;
	if (h->state == HTTP1_AT_END)
		return http1_finish(h);
	if (h->state >= HTTP1_AT_BLANK)
		return http1_body_stages(h, c);
	return http1_head(h, c, lines, line, ret_from);
}

/* `from`: of PROTOCOL_VALUE, where it begins. */
HTTP1_INLINE struct protocol_step http1_met(const struct http1 *h, const struct cursor *c,
					    enum protocol_event event, __u32 from)
{
	__u32 at = event == PROTOCOL_VALUE ? from : c->i;

	/* The CR of the blank line is consumed, so that the automaton remembers it. */
	if (event == PROTOCOL_BLANK && !(h->flags & HTTP1_BARE_LF))
		at--;
	return (struct protocol_step){.next = c->i, .at = at, .event = event};
}

/*
 * Consume bytes of window[i..len), len <= PROTOCOL_WINDOW, up to the next event or as far as one
 * step goes; each step consumes something or has an event. At most one event is returned:
 *
 * - PROTOCOL_LINE: a field line begins at `at`, and its first byte is there: something may be
 *   inserted before it. Not for trailers.
 * - PROTOCOL_BLANK: the blank line that ends the head begins at `at`, and no field can follow. If
 *   lines end with CR LF the CR is enough. The flags about the fields are final. Not for trailers.
 * - PROTOCOL_HEAD: the head ends before `at`; `status` and `flags` are final, `left` is the length
 *   of the body, if it has one.
 * - PROTOCOL_END: the message ends before `at`. After a head without body it comes by itself in
 *   the next step, see http1_pending(). Whatever follows is the next message.
 * - PROTOCOL_VALUE: the bytes from `at` to the end of what this step consumes are a piece of the
 *   value of a traceparent, tracestate or x-request-id field (`name` says which). Before the first
 *   piece (`pos` is 1 then) are `word` blanks, up to the colon. The piece of an empty value is
 *   empty. Only of requests.
 * - PROTOCOL_STOP: the byte at `at` (after CONNECT or 101: what follows the head) is not framed,
 * and nothing after it; `stop` says why. Every later step says so again.
 */
HTTP1_INLINE struct protocol_step http1_step(struct http1 *h, const struct protocol_window *window,
					     __u32 i, __u32 len)
{
	struct cursor c = {.window = window, .i = i, .len = len};
	__u32 line = PROTOCOL_NOWHERE, from = i;
	enum protocol_event event = http1_advance(h, &c, 1, &line, &from);

	return http1_met(h, &c, event, from);
}

/*
 * The same in fewer calls, for who wants to know one line at most: no PROTOCOL_LINE is returned,
 * but if `line` was PROTOCOL_NOWHERE, it becomes the place of the first line that was met.
 */
HTTP1_INLINE struct protocol_step http1_scan(struct http1 *h, const struct protocol_window *window,
					     __u32 i, __u32 len, __u32 *line)
{
	struct cursor c = {.window = window, .i = i, .len = len};
	__u32 from = i;
	enum protocol_event event = http1_advance(h, &c, HTTP1_SCAN_LINES, line, &from);

	return http1_met(h, &c, event, from);
}

#endif
