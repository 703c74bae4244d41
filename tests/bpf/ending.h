/* SPDX-License-Identifier: Apache-2.0 */
/* How a connection ends: what both sides send then, and what has to be left of it. */
#ifndef CTXPROP_TEST_ENDING_H
#define CTXPROP_TEST_ENDING_H

#include "conn.h"

/* What is said before: with the place of the header, and as it is sent; not HTTP; the answer. */
#define GET     "GET / HTTP/1.1\r\nHost: a\r\n^\r\n"
#define PLAIN   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define GET_LEN 27
#define TLS     "\x16\x03\x01 hello"
#define ANSWER  "HTTP/1.1 204 No Content\r\n\r\n"

/* Our side sends FIN, behind all that was written. */
void conn_send_fin(struct conn *c);

/* The peer does, and acknowledges all that was written; ours too? */
void conn_receive_fin(struct conn *c, bool acks_ours);

/* A pure acknowledgement of ours, behind our FIN if that was sent. */
struct segment conn_our_ack(const struct conn *c, bool after_fin);

/* The same segment, its number shifted by an offset, or what it acknowledges if it is the peer's.
 */
void conn_expect_shift(struct conn *c, const struct segment *s, int32_t offset);

/* There is no flow any more, and an offset is remembered; 0: none. */
void conn_expect_gone(const struct conn *c, uint32_t want_offset);

/*
 * A RST was believed, which may have been a stranger's: the offset is kept, and with edits in
 * flight the whole flow.
 */
void conn_expect_reset(const struct conn *c);

#endif
