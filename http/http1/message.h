/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What is known of a message while it is read, and of bytes that may begin one. */
#ifndef CTXPROP_HTTP1_MESSAGE_H
#define CTXPROP_HTTP1_MESSAGE_H

#include "reasons.h"
#include "start.h"

/* The bytes of the blank line that ends the head. */
HTTP1_INLINE __u32 http1_blank_size(const struct http1 *h)
{
	return h->flags & HTTP1_BARE_LF ? 1 : 2;
}

/* At PROTOCOL_BLANK: the bytes of the head before the blank line, whose CR counts already. */
HTTP1_INLINE __u32 http1_before_blank(const struct http1 *h)
{
	__u32 cr = h->flags & HTTP1_BARE_LF ? 0 : 1;

	return h->head - cr;
}

/*
 * The status of the response at hand, as soon as its three digits were read; 0: not yet, or an
 * interim response. The rest of the head may come out of order, and is not needed.
 */
HTTP1_INLINE int http1_final_status(const struct http1 *h)
{
	if (h->state < HTTP1_AT_REASON || h->state > HTTP1_AT_BLANK)
		return 0;
	return h->status == 101 || h->status >= 200 ? h->status : 0;
}

/* Do these eight bytes begin a status line: "HTTP/1." and any minor version? */
HTTP1_INLINE int http1_is_status_line(__u64 start)
{
	return (start & 0x00ffffffffffffffull) == 0x002e312f50545448ull;
}

/*
 * What the stream was stopped at: is it a protocol in which several requests ask at once, as a
 * rule? HTTP/2 is, and so is Redis's: each command begins with an asterisk, and the number of its
 * arguments.
 */
HTTP1_INLINE int http1_stopped_at_shared(const struct http1 *h)
{
	if (h->stop == HTTP1_STOP_HTTP2)
		return 1;
	return h->stop == HTTP1_STOP_NOT_HTTP && (__u8)h->word == '*' &&
	       http1_digit(h->word >> 8) < 10;
}

/* Which reason stands for the refusal (enum ctxprop_reason). */
HTTP1_INLINE __u32 http1_reason(const struct http1 *h)
{
	switch (h->stop) {
	case HTTP1_STOP_NOT_HTTP:
		return REASON_NOT_HTTP;
	case HTTP1_STOP_HTTP2:
		return REASON_HTTP2;
	case HTTP1_STOP_TLS:
		return REASON_TLS;
	case HTTP1_STOP_CONNECT:
		return REASON_CONNECT;
	case HTTP1_STOP_UPGRADED:
		return REASON_UPGRADED;
	case HTTP1_STOP_LENGTH:
		return REASON_LENGTH;
	case HTTP1_STOP_MALFORMED:
		return REASON_MALFORMED;
	default:
		return REASON_WORK_CAP;
	}
}

#endif
