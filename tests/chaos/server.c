/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chaos server: answers every request with what it received (see talk.h). One thread, epoll.
 */
#include "session.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define EVENTS_MAX 128

static volatile sig_atomic_t stopped;

static void on_signal(int signal)
{
	(void)signal;
	stopped = 1;
}

static const char usage[] =
    "Usage: server [--port N] [--fault NAME --every N] [--probe SECONDS] [--quiet]\n"
    "Answers HTTP/1 requests with hashes of what it received (X-Chaos), on IPv4 and IPv6.\n"
    "Prints \"ready\" when it listens and its counts at SIGTERM.\n"
    "  --port N      listen here (8080)\n"
    "  --fault NAME  do something wrong, to test the client: reset, stall, short (half an answer\n"
    "                head, then the end), body (a changed byte), swap (another request's id)\n"
    "  --every N     ... at every N-th request (100)\n"
    "  --probe N     ask a client that says nothing for N seconds whether it is there (never)\n"
    "  --quiet       do not print each error\n";

static const char *const fault_names[] = {
    [FAULT_NONE] = "none",   [FAULT_RESET] = "reset", [FAULT_STALL] = "stall",
    [FAULT_SHORT] = "short", [FAULT_BODY] = "body",   [FAULT_SWAP] = "swap",
};

static enum fault fault_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(fault_names) / sizeof(*fault_names); i++) {
		if (!strcmp(name, fault_names[i]))
			return (enum fault)i;
	}
	fprintf(stderr, "server: --fault %s: no such fault\n%s", name, usage);
	exit(2);
}

static uint64_t number(const char *text, uint64_t max)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (end != text && !*end && n && n <= max)
		return n;
	fprintf(stderr, "server: %s: expected a number from 1 to %llu\n", text,
		(unsigned long long)max);
	exit(2);
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1, off = 0;

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (!bind(fd, (struct sockaddr *)&address, sizeof(address)) && !listen(fd, 4096))
		return fd;
	off = -errno;
	close(fd);
	return off;
}

static void watch(int epoll, int operation, int fd, uint32_t events, void *what)
{
	struct epoll_event event = {.events = events, .data.ptr = what};

	if (epoll_ctl(epoll, operation, fd, &event))
		fprintf(stderr, "server: epoll_ctl: %s\n", strerror(errno));
}

/* Keepalive: a client that is gone, and whose RST was lost, answers with another one. */
static void probe_silent(int fd, int seconds)
{
	int on = 1, interval = 1;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof(seconds));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
}

static void accept_all(struct server *server, int epoll, int listener)
{
	struct session *session;
	int fd, on = 1;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (server->probe_seconds)
			probe_silent(fd, server->probe_seconds);
		session = session_new(server, fd);
		if (!session) {
			close(fd);
			return;
		}
		watch(epoll, EPOLL_CTL_ADD, fd, EPOLLIN, session);
	}
}

static void serve(int epoll, struct session *session)
{
	enum session_wish wish = session_work(session);

	if (wish == SESSION_OVER)
		session_free(session);
	else
		watch(epoll, EPOLL_CTL_MOD, session->fd, wish == SESSION_WRITE ? EPOLLOUT : EPOLLIN,
		      session);
}

static void run(struct server *server, int listener)
{
	struct epoll_event events[EVENTS_MAX];
	int epoll = epoll_create1(EPOLL_CLOEXEC);

	watch(epoll, EPOLL_CTL_ADD, listener, EPOLLIN, NULL);
	while (!stopped) {
		int n = epoll_wait(epoll, events, EVENTS_MAX, 1000);

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				serve(epoll, events[i].data.ptr);
			else
				accept_all(server, epoll, listener);
		}
	}
	while (server->sessions)
		session_free(server->sessions);
	close(epoll);
}

static uint16_t read_options(int argc, char **argv, struct server *server)
{
	static const struct option options[] = {
	    {"port", required_argument, NULL, 'p'},
	    {"fault", required_argument, NULL, 'f'},
	    {"every", required_argument, NULL, 'e'},
	    {"quiet", no_argument, NULL, 'q'},
	    {"probe", required_argument, NULL, 's'},
	    {"help", no_argument, NULL, 'h'},
	    {0},
	};
	uint16_t port = 8080;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option == 'p')
			port = (uint16_t)number(optarg, UINT16_MAX);
		else if (option == 'f')
			server->fault = fault_by_name(optarg);
		else if (option == 'e')
			server->fault_every = number(optarg, UINT32_MAX);
		else if (option == 's')
			server->probe_seconds = (int)number(optarg, 60);
		else if (option == 'q')
			server->quiet = true;
		else {
			fputs(usage, option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	return port;
}

int main(int argc, char **argv)
{
	struct server server = {.fault_every = 100};
	struct rlimit files = {20000, 20000};
	uint16_t port = read_options(argc, argv, &server);
	int listener = listen_on(port);

	if (listener < 0) {
		fprintf(stderr, "server: port %u: %s\n", port, strerror(-listener));
		return 1;
	}
	setrlimit(RLIMIT_NOFILE, &files);
	signal(SIGTERM, on_signal);
	signal(SIGINT, on_signal);
	signal(SIGPIPE, SIG_IGN);
	printf("ready\n");
	fflush(stdout);
	run(&server, listener);
	printf("connections=%llu requests=%llu errors=%llu\n",
	       (unsigned long long)server.connections, (unsigned long long)server.requests,
	       (unsigned long long)server.errors);
	close(listener);
	return 0;
}
