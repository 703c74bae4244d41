/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client of HTTP/2 could send, made of bytes that somebody else has chosen, with nghttp2's
 * encoder; and what is true of each header block in it.
 */
#ifndef CONNECTION_H
#define CONNECTION_H

#include <stddef.h>
#include <stdint.h>

#define CONNECTION_BYTES  65536
#define CONNECTION_BLOCKS 64

/* Bytes that choose; zeros when they are used up. */
struct choices {
	const uint8_t *bytes;
	size_t len, next;
};

/* A header block of the connection. */
struct block {
	size_t begin; /* of its HEADERS frame */
	size_t end;   /* of its last byte, padding left out */
	uint32_t stream;
	int request;   /* it begins one */
	int parents;   /* fields named traceparent */
	int states;    /* and tracestate */
	int continued; /* it is in several frames */
	int ends_stream;
};

struct connection {
	uint8_t byte[CONNECTION_BYTES];
	size_t len;
	struct block block[CONNECTION_BLOCKS];
	size_t count;
};

/* A whole connection, from the preface on. */
void connection_make(struct connection *ret, struct choices *choices);

/* A number below `n`, which is not 0. */
uint32_t choose(struct choices *choices, uint32_t n);

/*
 * Decode the header blocks of a connection as a server does. Returns NULL, or what is wrong with
 * it. `each` is called for each field of each block, in their order.
 */
const char *connection_decode(const uint8_t *bytes, size_t len,
			      void (*each)(void *context, size_t block, const char *name,
					   size_t name_len, const char *value, size_t value_len),
			      void *context);

#endif
