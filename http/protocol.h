/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * The seam between flows and protocols. A flow (bpf/abi.h) knows numbers, edits and rules; what the
 * bytes of a direction mean is asked of its stream:
 *
 * - Is this mine? protocol_may_begin(), protocol_may_answer(); no longer after PROTOCOL_STOP, for
 *   which protocol_reason() has the reason.
 * - Where does a message begin and end? protocol_scan() and its events, protocol_skippable().
 * - Where may something be added? PROTOCOL_LINE, PROTOCOL_BLANK.
 * - What context has it? PROTOCOL_VALUE, protocol_field(), protocol_has_parent().
 *
 * There is one, HTTP/1 (http1/). Another protocol with one message at a time has a folder beside
 * it, a member of the union, and a branch in each function below. HTTP/2 (http2/) has many messages
 * at once on a connection, and so stages of its own in bpf/tc (31-http2, 43-http2).
 */
#ifndef CTXPROP_PROTOCOL_H
#define CTXPROP_PROTOCOL_H

#include "http1/framing.h"
#include "http1/message.h"

/* One direction of a connection. All zero is a fresh one of requests. */
struct protocol {
	union {
		struct http1 http1;
	};
};

PROTOCOL_INLINE void protocol_begin(struct protocol *s, enum protocol_kind kind)
{
	http1_init(&s->http1, kind);
}

/* Can the first message of a connection begin with this byte? */
PROTOCOL_INLINE int protocol_may_begin(__u8 first)
{
	return http1_is_token(first);
}

/* Can a response begin with these eight bytes? The first byte is the lowest. */
PROTOCOL_INLINE int protocol_may_answer(__u64 start)
{
	return http1_is_status_line(start);
}

/* http1_scan(): consume bytes of window[i..len) up to the next event, or as far as a step goes. */
PROTOCOL_INLINE struct protocol_step protocol_scan(struct protocol *s,
						   const struct protocol_window *window, __u32 i,
						   __u32 len, __u32 *line)
{
	return http1_scan(&s->http1, window, i, len, line);
}

/*
 * At PROTOCOL_BLANK: the rest of the blank line, which begins at window[*i] with *i < len. Returns
 * PROTOCOL_HEAD or PROTOCOL_STOP; *i is the first byte behind it then.
 */
PROTOCOL_INLINE enum protocol_event
protocol_end_head(struct protocol *s, const struct protocol_window *window, __u32 *i, __u32 len)
{
	struct cursor c = {.window = window, .i = *i, .len = len};
	enum protocol_event event = http1_at_blank(&s->http1, &c);

	*i = c.i;
	return event;
}

/* Is an event due that needs no further byte? */
PROTOCOL_INLINE int protocol_pending(const struct protocol *s)
{
	return http1_pending(&s->http1);
}

/* At PROTOCOL_HEAD: a message without body is over without a step, unless it was the last one. */
PROTOCOL_INLINE void protocol_end_bodiless(struct protocol *s)
{
	http1_end_bodiless(&s->http1);
}

/* How many of the next bytes need not be looked at. ~0: all of them. */
PROTOCOL_INLINE __u64 protocol_skippable(const struct protocol *s)
{
	return http1_skippable(&s->http1);
}

/* Pass over n <= protocol_skippable() bytes. Returns PROTOCOL_END if they complete the message. */
PROTOCOL_INLINE enum protocol_event protocol_skip(struct protocol *s, __u64 n)
{
	return http1_skip(&s->http1, n);
}

/* Has no byte of the next message been read? */
PROTOCOL_INLINE int protocol_between(const struct protocol *s)
{
	return s->http1.state == HTTP1_AT_START;
}

/* Has a head begun that is not yet complete? */
PROTOCOL_INLINE int protocol_in_head(const struct protocol *s)
{
	return http1_in_head(&s->http1);
}

/* In a head: may another field follow? */
PROTOCOL_INLINE int protocol_in_fields(const struct protocol *s)
{
	return s->http1.state != HTTP1_AT_BLANK;
}

/* Is a body still to come, or the rest of one? */
PROTOCOL_INLINE int protocol_in_body(const struct protocol *s)
{
	return http1_in_body(&s->http1);
}

/* Is the message at hand over when the connection is? */
PROTOCOL_INLINE int protocol_until_close(const struct protocol *s)
{
	return s->http1.state == HTTP1_AT_CLOSE;
}

/* Bytes of the head at hand that were read. */
PROTOCOL_INLINE __u32 protocol_head_size(const struct protocol *s)
{
	return s->http1.head;
}

/* At PROTOCOL_BLANK: bytes of the head before its place. */
PROTOCOL_INLINE __u32 protocol_before_blank(const struct protocol *s)
{
	return http1_before_blank(&s->http1);
}

/* Bytes from the place of PROTOCOL_BLANK to the end of the head. */
PROTOCOL_INLINE __u32 protocol_blank_size(const struct protocol *s)
{
	return http1_blank_size(&s->http1);
}

/* Is the head longer than those that are worth an edit? */
PROTOCOL_INLINE int protocol_head_is_long(const struct protocol *s)
{
	return s->http1.flags & HTTP1_HEAD_LONG;
}

/* At PROTOCOL_BLANK: does the head leave open how long the body is? */
PROTOCOL_INLINE int protocol_body_is_open(const struct protocol *s)
{
	return s->http1.flags & HTTP1_CHUNKED;
}

/* Bytes of the body that are still to come, if the head has said how many. */
PROTOCOL_INLINE __u64 protocol_body_left(const struct protocol *s)
{
	return s->http1.left;
}

/* Of requests: is what follows a tunnel, and this no request? */
PROTOCOL_INLINE int protocol_is_tunnel(const struct protocol *s)
{
	return s->http1.flags & HTTP1_CONNECT;
}

/* Of requests: does this one ask for another protocol to follow? */
PROTOCOL_INLINE int protocol_asks_upgrade(const struct protocol *s)
{
	return s->http1.flags & HTTP1_UPGRADE;
}

/* Of requests: what of this one matters to the reading of its response. */
PROTOCOL_INLINE __u32 protocol_method(const struct protocol *s)
{
	return s->http1.flags & HTTP1_CALLER_FLAGS;
}

/* Of responses: the next one answers a request whose protocol_method() was this. */
PROTOCOL_INLINE void protocol_answers(struct protocol *s, __u32 method)
{
	s->http1.flags = method;
}

/* Of responses: the status of the one at hand. */
PROTOCOL_INLINE __u16 protocol_status(const struct protocol *s)
{
	return s->http1.status;
}

/* The same while the head is read, if it is known, and final or 101; else 0. */
PROTOCOL_INLINE int protocol_final_status(const struct protocol *s)
{
	return http1_final_status(&s->http1);
}

/* Trace fields that the head at hand has, as far as it was read. */
PROTOCOL_INLINE int protocol_has_parent(const struct protocol *s)
{
	return s->http1.flags & HTTP1_TRACEPARENT;
}

PROTOCOL_INLINE int protocol_has_two_parents(const struct protocol *s)
{
	return s->http1.flags & HTTP1_TWO_PARENTS;
}

PROTOCOL_INLINE int protocol_has_state(const struct protocol *s)
{
	return s->http1.flags & HTTP1_TRACESTATE;
}

/* Fields whose values are shown. */
enum protocol_field {
	PROTOCOL_FIELD_PARENT = HTTP1_NAME_PARENT, /* traceparent */
	PROTOCOL_FIELD_STATE = HTTP1_NAME_STATE,   /* tracestate */
	PROTOCOL_FIELD_ID = HTTP1_NAME_ID,         /* x-request-id */
};

/* At PROTOCOL_VALUE: of which field? (enum protocol_field) */
PROTOCOL_INLINE __u8 protocol_field(const struct protocol *s)
{
	return s->http1.name;
}

/* At PROTOCOL_VALUE: is it the first piece? */
PROTOCOL_INLINE int protocol_value_begins(const struct protocol *s)
{
	return s->http1.pos == 1;
}

/* At the first piece: bytes between the end of the name, with its colon, and the value. */
PROTOCOL_INLINE __u32 protocol_value_blanks(const struct protocol *s)
{
	return s->http1.word;
}

/* Does the value of a trace field go on behind what was read? */
PROTOCOL_INLINE int protocol_value_is_open(const struct protocol *s)
{
	return s->http1.state == HTTP1_AT_TRACED && s->http1.pos &&
	       protocol_field(s) != PROTOCOL_FIELD_ID;
}

/* Whatever the caller wants to remember until the next message begins; 0 then. */
PROTOCOL_INLINE __u8 *protocol_marks(struct protocol *s)
{
	return &s->http1.caller;
}

/* Has it stopped, and is nothing read any more? */
PROTOCOL_INLINE int protocol_stopped(const struct protocol *s)
{
	return s->http1.stop;
}

/* Why it has stopped (enum ctxprop_reason). */
PROTOCOL_INLINE __u32 protocol_reason(const struct protocol *s)
{
	return http1_reason(&s->http1);
}

/* Did it stop at a protocol in which several requests ask at once, as a rule? */
PROTOCOL_INLINE int protocol_stopped_at_shared(const struct protocol *s)
{
	return http1_stopped_at_shared(&s->http1);
}

#endif
