/* SPDX-License-Identifier: Apache-2.0 */
/* As much of HTTP/1.1 as the servers in C need: GET /a?ID and GET /b?ID, several of them on a
 * connection. */
#ifndef SAMPLES_HTTP_H
#define SAMPLES_HTTP_H

#include <stdbool.h>
#include <stddef.h>

#include "burn.h"

#define BUFFER_MAX 16384

struct stream {
	int fd;
	size_t used;
	char buffer[BUFFER_MAX + 1];
};

/* A socket that listens on all addresses; ends the program where that fails. */
int http_listen(const char *port);

/* Read once. False: the connection is over, or nothing has come (nonblocking sockets: errno is
 * EAGAIN). */
bool http_fill(struct stream *stream);

/* Take the next request out of the buffer. False: none is there yet. */
bool http_take(struct stream *stream, char id[ID_MAX]);

/* Answer the oldest request that was not answered. False: the connection is over. */
bool http_answer(int fd);

#endif
