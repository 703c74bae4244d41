/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One end of a connection that speaks HTTP/2, by nghttp2: its bytes in and out of a socket. How
 * many frames leave in one write is drawn at random.
 */
#ifndef CHAOS_HTTP2_PEER_H
#define CHAOS_HTTP2_PEER_H

#include <stdbool.h>
#include <nghttp2/nghttp2.h>

#include "buffer.h"
#include "hash.h"
#include "rng.h"

/* What the server tells of a request, and what a request asks for. */
#define HTTP2_TOLD_FIELDS  "x-fields"  /* hash of all fields but traceparent, hexadecimal */
#define HTTP2_TOLD_BODY    "x-body"    /* hash of its body */
#define HTTP2_TOLD_PARENTS "x-parents" /* how many traceparents it had */
#define HTTP2_TOLD_PARENT  "x-parent"  /* the last of them */
#define HTTP2_ASKED_SIZE   "x-size"    /* bytes that the answer shall have */
#define HTTP2_PARENT       "traceparent"
#define HTTP2_PARENT_LEN   55

struct http2_peer {
	int fd;
	nghttp2_session *session;
	struct buffer out;
	size_t sent; /* of `out` */
	struct rng rng;
	bool moved; /* bytes have come or gone since this was cleared */
};

/* Take what has come. 0; -ECONNRESET: it is over; -EPROTO: the other end breaks a rule. */
int http2_peer_receive(struct http2_peer *peer);

/* Send what there is, as far as the socket takes it. 0, or -errno. */
int http2_peer_send(struct http2_peer *peer);

/* Is there something to be sent? */
bool http2_peer_has_more(const struct http2_peer *peer);

/* Close the socket and free what the peer has; `session` too. */
void http2_peer_close(struct http2_peer *peer);

/* Continue a hash over a field. */
uint64_t http2_hash_field(uint64_t hash, const uint8_t *name, size_t name_len, const uint8_t *value,
			  size_t value_len);

/* A callback of nghttp2: pads every fourth frame or so. */
ssize_t http2_peer_pad(nghttp2_session *session, const nghttp2_frame *frame, size_t max,
		       void *data);

#endif
