// SPDX-License-Identifier: Apache-2.0
/*
 * bench_server PORT
 *
 * Answers every HTTP/1 request with the same 200 as cheaply as it can. Two paths help the bench:
 * /echo answers with the head it got, /stat with "REQUESTS BYTES" received on other paths.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX 64
#define HEAD_MAX   16384
#define READ_MAX   (256 * 1024)
#define OUT_MAX    (64 * 1024)
#define ANSWER     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
#define ANSWER_LEN (sizeof(ANSWER) - 1)

struct connection {
	int fd;
	bool last;        /* the client asked to close behind the answer */
	size_t body_left; /* of the request under way */
	size_t kept;      /* bytes of an incomplete head in `keep` */
	char keep[HEAD_MAX];
};

/* Answers to everything that one read brought go out in one send. */
struct answers {
	size_t used;
	char text[OUT_MAX];
};

static struct {
	uint64_t requests;
	uint64_t bytes;
} seen;

static struct answers out;
static char in[HEAD_MAX + READ_MAX];

static void answer(const char *text, size_t size)
{
	if (out.used + size > sizeof(out.text))
		abort(); /* more requests in one read than the bench ever sends */
	memcpy(out.text + out.used, text, size);
	out.used += size;
}

static void answer_text(const char *text, size_t size)
{
	char head[64];
	int n =
	    snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", size);

	answer(head, (size_t)n);
	answer(text, size);
}

static void answer_stat(void)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "%llu %llu\n", (unsigned long long)seen.requests,
			 (unsigned long long)seen.bytes);

	answer_text(text, (size_t)n);
}

static bool starts_with(const char *text, size_t size, const char *prefix)
{
	size_t length = strlen(prefix);

	return size >= length && !strncasecmp(text, prefix, length);
}

/* A field that the server obeys. */
static void read_field(struct connection *c, const char *line, size_t size)
{
	if (starts_with(line, size, "content-length:"))
		c->body_left = strtoul(line + strlen("content-length:"), NULL, 10);
	else if (starts_with(line, size, "connection: close"))
		c->last = true;
}

/* Length of the head at `text` with its blank line; 0: incomplete. Sets the body's length. */
static size_t read_head(struct connection *c, const char *text, size_t size)
{
	const char *line = text, *end = text + size, *newline;

	while ((newline = memchr(line, '\n', (size_t)(end - line)))) {
		if (newline - line <= 1)
			return (size_t)(newline + 1 - text);
		if ((*line | 0x20) == 'c')
			read_field(c, line, (size_t)(newline - line));
		line = newline + 1;
	}
	c->body_left = 0;
	return 0;
}

static void answer_request(const char *head, size_t size, size_t body)
{
	if (starts_with(head, size, "GET /stat"))
		return answer_stat();
	if (starts_with(head, size, "GET /echo"))
		return answer_text(head, size);
	seen.requests++;
	seen.bytes += size + body;
	if (!body)
		answer(ANSWER, ANSWER_LEN);
}

/* Take the part of a body that stands at `text`; answers when it is complete. */
static size_t skip_body(struct connection *c, size_t size)
{
	size_t taken = size < c->body_left ? size : c->body_left;

	c->body_left -= taken;
	if (taken && !c->body_left)
		answer(ANSWER, ANSWER_LEN);
	return taken;
}

/* Handle `size` bytes at `text`; what is left of an incomplete head is kept for later. */
static int consume(struct connection *c, const char *text, size_t size)
{
	while (size) {
		size_t taken;

		if (c->body_left) {
			taken = skip_body(c, size);
		} else {
			taken = read_head(c, text, size);
			if (!taken)
				break;
			answer_request(text, taken, c->body_left);
		}
		text += taken;
		size -= taken;
	}
	if (size > HEAD_MAX)
		return -EMSGSIZE;
	memcpy(c->keep, text, size);
	c->kept = size;
	return 0;
}

/* One read and its answers; -errno when the connection is over. */
static int serve(struct connection *c)
{
	ssize_t n;
	int error;

	memcpy(in, c->keep, c->kept);
	n = recv(c->fd, in + c->kept, READ_MAX, 0);
	if (n <= 0)
		return n && errno == EAGAIN ? 0 : -ECONNRESET;
	out.used = 0;
	error = consume(c, in, c->kept + (size_t)n);
	if (error || !out.used)
		return error;
	/* Small answers to a client that reads: a short send means that it went away. */
	n = send(c->fd, out.text, out.used, MSG_NOSIGNAL);
	return n == (ssize_t)out.used && !c->last ? 0 : -ECONNRESET;
}

static void drop(struct connection *c)
{
	close(c->fd);
	free(c);
}

static void accept_all(int epoll, int listener)
{
	int fd, on = 1;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		struct connection *c = calloc(1, sizeof(*c));
		struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};

		if (!c)
			abort();
		c->fd = fd;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
			drop(c);
	}
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 4096)) {
		int error = errno;

		close(fd);
		return -error;
	}
	return fd;
}

static int loop(int epoll, int listener)
{
	struct epoll_event events[EVENTS_MAX];

	for (;;) {
		int n = epoll_wait(epoll, events, EVENTS_MAX, -1);

		if (n < 0)
			return -errno;
		for (int i = 0; i < n; i++) {
			struct connection *c = events[i].data.ptr;

			if (!c)
				accept_all(epoll, listener);
			else if (serve(c))
				drop(c);
		}
	}
}

int main(int argc, char **argv)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
	int listener = argc == 2 ? listen_on((uint16_t)strtoul(argv[1], NULL, 10)) : -EINVAL;
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	if (listener < 0 || epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event)) {
		fprintf(stderr,
			"bench_server: cannot listen; expected one argument, a free port: %s\n",
			strerror(listener < 0 ? -listener : errno));
		return EXIT_FAILURE;
	}
	fprintf(stderr, "bench_server: %s\n", strerror(-loop(epoll, listener)));
	return EXIT_FAILURE;
}
