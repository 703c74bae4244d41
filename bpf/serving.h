/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A connection whose server is local: the requests that come in on it, and the responses that
 * tell when each of them is over.
 *
 * Two sides write, at any time: the inbound one (one CPU at a time) adds requests at the end of
 * the ring, the outbound one (under the lock of the socket) takes the oldest away.
 */
#ifndef CTXPROP_SERVING_H
#define CTXPROP_SERVING_H

#include <linux/types.h>
#include "http/protocol.h"
#include "traceparent.h"

/* Requests of one connection that wait for their response; a power of two. */
#define SERVING_OPEN_MAX 16

/* A request whose response is not yet sent. */
struct serving_open {
	__u64 request; /* key of map `requests`; 0: it is not followed, or over */
	__u32 seq;     /* peer's number of its first byte */
	__u32 method;  /* protocol_method(), for the reading of its response */
};

/* Has the client closed its side, and when? */
enum serving_closed {
	SERVING_CLIENT_THERE,
	SERVING_CLOSED_BEFORE, /* no response was at hand */
	SERVING_CLOSED_WITHIN, /* one was being sent */
};

struct serving {
	struct protocol requests;  /* what comes in */
	struct protocol responses; /* what goes out */
	__u32 request_next;        /* peer's numbers: the byte that the framing expects next */
	__u32 response_next;       /* our numbers: likewise */
	__u32 open_first; /* indices count up for ever; a slot is index % SERVING_OPEN_MAX */
	__u32 open_end;
	__u32 delivered;      /* index after the last one that its socket was told of */
	__u32 response_start; /* our numbers: first byte of the response at hand */
	__u64 span;           /* the request whose head is being read, once it is made; or 0 */
	struct serving_open open[SERVING_OPEN_MAX];
	struct traceparent_text parent; /* of the head that is being read */
	__u64 inbox;       /* of its socket, as in struct socket; INBOX_NONE: not known yet */
	__u32 response_at; /* records.h: our numbers: how far the response at hand was read */
	__u32 acked;    /* records.h: peer's numbers: what our side has received, as it last said */
	__u64 first_ns; /* records.h: when the response at hand began; 0: it did not */
	__u64 cookie;   /* records.h: of the socket that sends it; 0: not known */
	__u64 taken_ns; /* records.h: as in struct request, of the one that it answers */
	__u32 tgid;     /* records.h: who took that up; 0: not known */
	__u32 tid;
	__u32 client_closed; /* records.h: enum serving_closed */
	__u32 reserved;
};

/* How many requests wait for their response. */
static inline __u32 serving_open_count(const struct serving *s)
{
	return s->open_end - s->open_first;
}

#endif
