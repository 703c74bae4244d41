// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"

#define ANSWER  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define BACKLOG 64

int http_listen(const char *port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((unsigned short)atoi(port))};

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on,
		   sizeof(on)); /* what is accepted inherits it */
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, BACKLOG)) {
		perror("listen");
		exit(EXIT_FAILURE);
	}
	return fd;
}

bool http_fill(struct stream *stream)
{
	ssize_t n = read(stream->fd, stream->buffer + stream->used, BUFFER_MAX - stream->used);

	if (n <= 0)
		return false;
	stream->used += (size_t)n;
	stream->buffer[stream->used] = '\0';
	return true;
}

bool http_take(struct stream *stream, char id[ID_MAX])
{
	char *end = strstr(stream->buffer, "\r\n\r\n");

	if (!stream->used || !end)
		return false;
	if (sscanf(stream->buffer, "GET /%*[ab]?%31[0-9a-z]", id) != 1)
		id[0] = '\0';
	end += strlen("\r\n\r\n");
	stream->used -= (size_t)(end - stream->buffer);
	memmove(stream->buffer, end, stream->used + 1);
	return true;
}

bool http_answer(int fd)
{
	return write(fd, ANSWER, strlen(ANSWER)) == (ssize_t)strlen(ANSWER);
}
