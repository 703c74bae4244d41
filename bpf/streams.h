/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * A connection that speaks HTTP/2 and whose server is local: the requests that are open on its
 * streams. What it has besides is in its struct serving.
 *
 * The inbound side (one CPU at a time) opens streams, both sides close them.
 */
#ifndef CTXPROP_STREAMS_H
#define CTXPROP_STREAMS_H

#include <linux/types.h>
#include "http/http2/code.h"
#include "http/http2/state.h"

/* Requests that are open at once on a connection, as far as they are followed; a power of two. */
#define STREAMS_MAX 64

struct streams {
	struct http2 requests;      /* what comes in */
	struct http2 answers;       /* what goes out */
	struct http2_code code;     /* of the traceparent at hand */
	__u64 request[STREAMS_MAX]; /* keys of map `requests`; 0: the place is free */
	__u32 stream[STREAMS_MAX];  /* of which each is */
};
_Static_assert(sizeof(struct streams) <= 1024, "that much for a connection, and no more");

/* Where to look for a stream first: those of a client have odd numbers. */
static inline __u32 streams_first(__u32 stream)
{
	return stream >> 1;
}

/* The place of an open stream; STREAMS_MAX: it is not open, or not followed. */
static inline __u32 streams_find(const struct streams *s, __u32 stream)
{
	for (__u32 i = 0; i < STREAMS_MAX; i++) {
		__u32 place = (streams_first(stream) + i) & (STREAMS_MAX - 1);

		if (s->stream[place] == stream && s->request[place])
			return place;
	}
	return STREAMS_MAX;
}

/* A free place for a stream; STREAMS_MAX: there is none. */
static inline __u32 streams_free(const struct streams *s, __u32 stream)
{
	for (__u32 i = 0; i < STREAMS_MAX; i++) {
		__u32 place = (streams_first(stream) + i) & (STREAMS_MAX - 1);

		if (!s->request[place])
			return place;
	}
	return STREAMS_MAX;
}

/* The request of a stream; 0: none is known. May be asked while others open and close streams. */
static inline __u64 streams_request(const struct streams *s, __u32 stream)
{
	__u32 place = streams_find(s, stream);
	__u64 id;

	if (place >= STREAMS_MAX)
		return 0;
	id = *(const volatile __u64 *)&s->request[place & (STREAMS_MAX - 1)];
	return *(const volatile __u32 *)&s->stream[place & (STREAMS_MAX - 1)] == stream ? id : 0;
}

/* A call on a stream, from when the program has written its head until that leaves. */
struct stream_key {
	__u64 cookie; /* of the socket */
	__u32 stream;
	__u32 reserved; /* 0 */
};

#endif
