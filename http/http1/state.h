/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* What the framing automaton remembers between two bytes, and the words its users know. */
#ifndef CTXPROP_HTTP1_STATE_H
#define CTXPROP_HTTP1_STATE_H

#include <linux/types.h>
#include "../reading.h"

/* A head longer than this gets HTTP1_HEAD_LONG; its framing goes on. */
#define HTTP1_HEAD_CAP 65536

#define HTTP1_INLINE PROTOCOL_INLINE

/*
 * What the verifier looks at once, not on each way that leads to it: for stages that are rare and
 * have many ways. Their pointers may be NULL, as far as it knows.
 */
#ifdef __bpf__
#define HTTP1_ALONE __attribute__((weak, noinline))
#else
#define HTTP1_ALONE static inline
#endif

/* About the message at hand, until the next one begins. */
enum http1_flags {
	HTTP1_TRACEPARENT = 1 << 0,  /* a traceparent field was seen */
	HTTP1_TRACESTATE = 1 << 1,   /* a tracestate field was seen */
	HTTP1_UPGRADE = 1 << 2,      /* an Upgrade field was seen */
	HTTP1_CONNECT = 1 << 3,      /* the method; of a response: set by the caller */
	HTTP1_HEAD_METHOD = 1 << 4,  /* the method; of a response: set by the caller */
	HTTP1_CHUNKED = 1 << 5,      /* the last transfer coding is chunked */
	HTTP1_CODED = 1 << 6,        /* a Transfer-Encoding field was seen */
	HTTP1_HAS_LENGTH = 1 << 7,   /* a Content-Length field was seen */
	HTTP1_HEAD_LONG = 1 << 8,    /* the head is over HTTP1_HEAD_CAP */
	HTTP1_V10 = 1 << 9,          /* HTTP/1.0 */
	HTTP1_BARE_LF = 1 << 10,     /* the lines of the head end with LF alone */
	HTTP1_TRAILERS = 1 << 11,    /* the fields are trailers */
	HTTP1_TWO_PARENTS = 1 << 12, /* a second traceparent field was seen */
};

/* What the caller of a response knows about its request. */
#define HTTP1_CALLER_FLAGS (HTTP1_CONNECT | HTTP1_HEAD_METHOD)

/* Why the stream is not framed any further. */
enum http1_stop {
	HTTP1_STOP_NONE,
	HTTP1_STOP_NOT_HTTP,  /* no HTTP/1 start line */
	HTTP1_STOP_HTTP2,     /* the preface of HTTP/2 */
	HTTP1_STOP_TLS,       /* a TLS record */
	HTTP1_STOP_CONNECT,   /* what follows is a tunnel */
	HTTP1_STOP_UPGRADED,  /* 101: what follows is another protocol */
	HTTP1_STOP_MALFORMED, /* a line that two readers could take in two ways */
	HTTP1_STOP_LENGTH,    /* a body length that is invalid, or stated twice */
};

/* Which byte comes next. The order is that of a message; HTTP1_AT_BLANK ends the head. */
enum http1_state {
	HTTP1_AT_START,
	HTTP1_AT_START_LF,
	HTTP1_AT_TLS,
	HTTP1_AT_METHOD,
	HTTP1_AT_TARGET,
	HTTP1_AT_VERSION,
	HTTP1_AT_STATUS_VERSION,
	HTTP1_AT_STATUS,
	HTTP1_AT_REASON,
	HTTP1_AT_START_END,
	HTTP1_AT_NAME,      /* of a field that may matter */
	HTTP1_AT_NAME_REST, /* of one that does not */
	HTTP1_AT_LENGTH,    /* value of Content-Length */
	HTTP1_AT_CODING,    /* value of Transfer-Encoding */
	HTTP1_AT_VALUE,     /* of any other field */
	HTTP1_AT_LF,
	HTTP1_AT_FIELD,  /* the first byte of a line */
	HTTP1_AT_TRACED, /* value of traceparent, tracestate or x-request-id in a request */
	HTTP1_AT_BLANK,  /* the LF of the blank line */
	HTTP1_AT_BODY,
	HTTP1_AT_CLOSE, /* a body until the connection ends */
	HTTP1_AT_CHUNK_SIZE,
	HTTP1_AT_CHUNK_EXT,
	HTTP1_AT_CHUNK_SIZE_LF,
	HTTP1_AT_CHUNK,
	HTTP1_AT_CHUNK_CR,
	HTTP1_AT_CHUNK_LF,
	HTTP1_AT_END, /* none: the message is over, or is the last to be framed */
	HTTP1_AT_STOP,
};

/* One direction of a connection. All zero is a fresh automaton for requests. */
struct http1 {
	__u64 left;   /* bytes of the body or the chunk still to come */
	__u64 word;   /* the last bytes of a method, version or name: the first is the lowest */
	__u32 head;   /* bytes of the head so far */
	__u16 status; /* of a response */
	__u16 flags;  /* enum http1_flags */
	__u8 kind;    /* enum protocol_kind */
	__u8 state;   /* enum http1_state */
	__u8 stop;    /* enum http1_stop */
	__u8 pos;     /* bytes in `word`, or progress within a value */
	__u8 name;    /* enum http1_name */
	__u8 caller;  /* whatever the caller wants to remember until the next message begins */
	__u8 reserved[2];
};
_Static_assert(sizeof(struct http1) == 32, "http1 is part of a flow");

/* No further than this byte: the automaton stays stopped. */
HTTP1_INLINE enum protocol_event http1_refuse(struct http1 *h, enum http1_stop why)
{
	h->state = HTTP1_AT_STOP;
	h->stop = why;
	return PROTOCOL_STOP;
}

/* Begin to collect bytes in `word`. */
HTTP1_INLINE void http1_enter(struct http1 *h, enum http1_state state)
{
	h->state = state;
	h->word = 0;
	h->pos = 0;
}

#endif
