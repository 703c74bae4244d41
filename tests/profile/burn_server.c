// SPDX-License-Identifier: Apache-2.0
/*
 * profile_burn PORT TRUTH [PIN FAULT]
 *
 * An HTTP/1.1 server with one thread per connection. GET /US/ID burns US microseconds of CPU in
 * that thread, answers, and burns a little more that belongs to no request. One more thread burns
 * now and then for no request at all. What was burnt when by whom is appended to the file TRUTH.
 * GET /US/ID/exit and /US/ID/exec never answer: the thread ends, or becomes another program, and
 * the connection stays open. Other words behind the id: see adverse_act().
 * With PIN and FAULT it publishes contexts itself: see writer_open().
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "burn.h"

#define HEAD_MAX      4096
#define AFTERWARDS_US 4000
#define BACKGROUND_US 2000
#define PAUSE_US      10000
#define ID_MAX        32
#define ACTION_MAX    16
#define TRACEPARENT   "\r\ntraceparent: "
#define ANSWER        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

static _Atomic uint64_t serial;

/* Reads until the head is complete; false: the connection is over. */
static bool read_head(int fd, char *head)
{
	size_t used = 0;

	while (used < HEAD_MAX) {
		ssize_t n = read(fd, head + used, HEAD_MAX - used);

		if (n <= 0)
			return false;
		used += (size_t)n;
		head[used] = '\0';
		if (strstr(head, "\r\n\r\n"))
			return true;
	}
	return false;
}

static bool serve_request(int fd, const char *head)
{
	const char *field = strcasestr(head, TRACEPARENT);
	char id[ID_MAX], action[ACTION_MAX] = "";
	unsigned long us;
	struct work work = {
	    .id = id,
	    .traceparent = field ? field + strlen(TRACEPARENT) : "",
	    .serial = atomic_fetch_add(&serial, 1),
	};
	struct work afterwards = {.id = "-", .traceparent = "", .cpu_us = AFTERWARDS_US};

	if (sscanf(head, "GET /%lu/%31[0-9a-z]%15[/a-z]", &us, id, action) < 2)
		return false;
	work.cpu_us = us;
	burn(&work);
	adverse_act(&work, fd, action);
	if (write(fd, ANSWER, strlen(ANSWER)) != (ssize_t)strlen(ANSWER))
		return false;
	burn(&afterwards);
	return true;
}

static void *serve(void *arg)
{
	int fd = (int)(intptr_t)arg;
	char head[HEAD_MAX + 1];

	while (read_head(fd, head) && serve_request(fd, head))
		;
	close(fd);
	return NULL;
}

static void *background(void *arg)
{
	struct work work = {.id = "-", .traceparent = "", .cpu_us = BACKGROUND_US};

	for (;;) {
		burn(&work);
		usleep(PAUSE_US);
	}
	return arg;
}

static void start(void *(*body)(void *), void *arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, arg)) {
		perror("pthread_create");
		exit(EXIT_FAILURE);
	}
	pthread_detach(thread);
}

static int listen_on(unsigned short port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 64)) {
		perror("profile_burn: listen");
		exit(EXIT_FAILURE);
	}
	return fd;
}

int main(int argc, char **argv)
{
	int listener, fd, on = 1;

	if (argc != 3 && argc != 5) {
		fprintf(stderr, "usage: profile_burn PORT TRUTH [PIN FAULT]\n");
		return EXIT_FAILURE;
	}
	truth_open(argv[2]);
	adverse_open(argv);
	if (argc == 5)
		writer_open(argv[3], argv[4]);
	listener = listen_on((unsigned short)atoi(argv[1]));
	start(background, NULL);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		start(serve, (void *)(intptr_t)fd);
	}
	return EXIT_FAILURE;
}
