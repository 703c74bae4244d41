// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

#define EVENTS_MAX    64
#define LATE_MS       5000
#define STATUS        "HTTP/1.1 200"
#define STATUS_LENGTH (sizeof(STATUS) - 1)
#define FIRST_MAX     65536

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int failed(const char *what, int error)
{
	fprintf(stderr, "bench_load: %s: %s\n", what, strerror(error));
	return -error;
}

static int watch(struct client *client, struct connection *c, int operation, uint32_t events)
{
	struct epoll_event event = {.events = events, .data.ptr = c};

	if (epoll_ctl(client->epoll, operation, c->fd, &event))
		return failed("epoll_ctl", errno);
	return 0;
}

static int connect_now(const struct client *client, int flags)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | flags, 0), on = 1;

	if (fd < 0)
		return failed("socket", errno);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (connect(fd, (const struct sockaddr *)&client->server, sizeof(client->server)) &&
	    errno != EINPROGRESS) {
		int error = errno;

		close(fd);
		return failed("connect", error);
	}
	return fd;
}

/* Send what is left of the batch; a full socket is waited for with EPOLLOUT. */
static int send_batch(struct client *client, struct connection *c)
{
	size_t left = client->batch_size - c->sent;
	ssize_t n = send(c->fd, client->batch + c->sent, left, MSG_NOSIGNAL);
	size_t before = c->sent;

	if (n < 0 && errno != EAGAIN)
		return failed("send", errno);
	if (n > 0)
		c->sent += (size_t)n;
	if (c->sent < client->batch_size)
		return watch(client, c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
	return before || client->reconnect ? watch(client, c, EPOLL_CTL_MOD, EPOLLIN) : 0;
}

static int begin_batch(struct client *client, struct connection *c)
{
	c->sent = c->received = 0;
	c->busy = true;
	c->since_ns = now_ns();
	if (!client->reconnect)
		return send_batch(client, c);
	c->fd = connect_now(client, SOCK_NONBLOCK);
	if (c->fd < 0)
		return c->fd;
	return watch(client, c, EPOLL_CTL_ADD, EPOLLIN | EPOLLOUT);
}

static void end_batch(struct client *client, struct connection *c, struct run *run)
{
	c->busy = false;
	run->requests += client->pipeline;
	histogram_add(&run->latency_ns, now_ns() - c->since_ns);
	if (client->reconnect) {
		close(c->fd);
		c->fd = -1;
	}
}

static int receive(struct client *client, struct connection *c, struct run *run)
{
	static char buffer[FIRST_MAX];
	size_t wanted = client->answer_size * client->pipeline;
	ssize_t n = recv(c->fd, buffer, sizeof(buffer), 0);

	if (n < 0)
		return errno == EAGAIN ? 0 : failed("recv", errno);
	if (n == 0 && client->reconnect && c->received == wanted) {
		end_batch(client, c, run);
		return 0;
	}
	if (n == 0)
		return failed("the server closed a connection", ECONNRESET);
	if (c->received == 0 &&
	    (n < (ssize_t)STATUS_LENGTH || memcmp(buffer, STATUS, STATUS_LENGTH)))
		return failed("an answer without " STATUS, EPROTO);
	c->received += (size_t)n;
	if (c->received > wanted)
		return failed("more bytes than the answers should have", EPROTO);
	/* A connection for one batch is over when the server has closed it. */
	if (c->received == wanted && !client->reconnect)
		end_batch(client, c, run);
	return 0;
}

static int serve_events(struct client *client, struct run *run, int timeout_ms)
{
	struct epoll_event events[EVENTS_MAX];
	int n = epoll_wait(client->epoll, events, EVENTS_MAX, timeout_ms), error = 0;

	if (n < 0)
		return failed("epoll_wait", errno);
	for (int i = 0; i < n && !error; i++) {
		struct connection *c = events[i].data.ptr;

		if (events[i].events & EPOLLOUT)
			error = send_batch(client, c);
		else
			error = receive(client, c, run);
	}
	return error ? error : n;
}

/* Begin what may begin now; how many batches are under way, or -errno. */
static int begin_due(struct client *client, uint64_t *budget)
{
	int busy = 0;

	for (unsigned i = 0; i < client->connections; i++) {
		struct connection *c = &client->connection[i];

		if (!c->busy && *budget) {
			int error = begin_batch(client, c);

			if (error)
				return error;
			--*budget;
		}
		busy += c->busy;
	}
	return busy;
}

static uint64_t batches_due(const struct client *client, unsigned rate, uint64_t elapsed_ns)
{
	if (!rate)
		return UINT64_MAX;
	return elapsed_ns * rate / 1000000000ull / client->pipeline;
}

int client_run(struct client *client, unsigned duration_ms, unsigned rate, struct run *ret_run)
{
	uint64_t start = now_ns(), end = start + duration_ms * 1000000ull, last = start, begun = 0;
	int busy = 0, events = 0;

	memset(ret_run, 0, sizeof(*ret_run));
	for (uint64_t now = start; now < end || busy; now = now_ns()) {
		uint64_t budget = now < end ? batches_due(client, rate, now - start) - begun : 0;
		uint64_t left = budget;

		busy = begin_due(client, &left);
		if (busy < 0)
			return busy;
		begun += budget - left;
		/* A paced run looks for what is due once per millisecond. */
		events = serve_events(client, ret_run, rate || !busy ? 1 : LATE_MS);
		if (events < 0)
			return events;
		if (events || !busy)
			last = now;
		else if (now - last > LATE_MS * 1000000ull || !rate)
			return failed("an answer did not come", ETIMEDOUT);
	}
	ret_run->elapsed_ns = now_ns() - start;
	return 0;
}

/* The size of the whole answer that begins in `text`, or 0 while its head is incomplete. */
static size_t answer_size(const char *text)
{
	const char *blank = strstr(text, "\r\n\r\n"), *length = strcasestr(text, "content-length:");

	if (!blank || !length || length > blank)
		return 0;
	return (size_t)(blank + 4 - text) + strtoul(length + strlen("content-length:"), NULL, 10);
}

/* Ask once on a connection of its own; blocking. */
static int learn_answer(struct client *client)
{
	static char text[FIRST_MAX + 1];
	size_t one = client->batch_size / client->pipeline, size = 0, used = 0;
	int fd = connect_now(client, 0), error = 0;

	if (fd < 0)
		return fd;
	if (send(fd, client->batch, one, MSG_NOSIGNAL | MSG_WAITALL) != (ssize_t)one)
		error = failed("send the first request", errno);
	while (!error && (size == 0 || used < size)) {
		ssize_t n = recv(fd, text + used, FIRST_MAX - used, 0);

		if (n <= 0) {
			error = failed("receive the first answer", n ? errno : ECONNRESET);
			break;
		}
		used += (size_t)n;
		text[used] = 0;
		size = answer_size(text);
	}
	close(fd);
	client->answer_size = size;
	return error;
}

int client_open(struct client *client)
{
	int error = learn_answer(client);

	if (error)
		return error;
	client->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (client->epoll < 0)
		return failed("epoll_create1", errno);
	for (unsigned i = 0; i < client->connections; i++) {
		struct connection *c = &client->connection[i];

		c->fd = -1;
		if (client->reconnect)
			continue;
		/* Only sends and receives are to be non-blocking, hence no fcntl before. */
		c->fd = connect_now(client, SOCK_NONBLOCK);
		if (c->fd < 0)
			return c->fd;
		error = watch(client, c, EPOLL_CTL_ADD, EPOLLIN);
		if (error)
			return error;
	}
	return 0;
}
