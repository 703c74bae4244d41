/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real socket at our end of a connection, as if a client had connected to it. Packets are told
 * to the programs as ever; the socket is told beside, so that it stands where they say.
 */
#ifndef CTXPROP_TEST_SERVER_H
#define CTXPROP_TEST_SERVER_H

#include "conn.h"

struct server {
	struct conn conn;
	int fd;
};

/* Open a connection that the programs have not seen. To be closed. */
void server_open(struct server *s, struct rig *rig);
void server_close(struct server *s);

/* A segment of the client comes with this data; the socket takes it in. */
void server_receive(struct server *s, const char *data);

/* The same at another place of its stream, `ahead` bytes on; the socket does not know of it. */
void server_receive_at(struct server *s, int ahead, const char *data);

/* The socket takes in what has passed before: bytes in front of a hole, and behind it. */
void server_take_in(struct server *s, size_t len);

/* The application answers; the segment passes. */
void server_send(struct server *s, const char *data);

/* How many requests are open now; one of them in `ret_any`, if there is one. */
size_t server_open_requests(const struct server *s, struct request *ret_any);

/* How many requests the socket was told of. */
uint32_t server_arrivals(const struct server *s, struct arrival *ret_last);

#endif
