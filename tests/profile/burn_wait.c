// SPDX-License-Identifier: Apache-2.0
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "burn.h"

#define NAP_US        100000
#define HOLD_US       50000
#define REST_US       1000 /* the last wait of a request is one that may be left out */
#define UPSTREAM_PORT 9000
#define QUESTION      "GET / HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n\r\n"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What they call they may not jump to as their last deed: they would not be on the stack. */
__attribute__((noinline)) static int take_nap(void)
{
	return usleep(NAP_US) ? -1 : 0;
}

__attribute__((noinline)) static int take_lock(void)
{
	return pthread_mutex_lock(&lock) ? -1 : 0;
}

__attribute__((noinline)) static void hold_lock(void)
{
	usleep(HOLD_US);
	pthread_mutex_unlock(&lock);
}

/* The host that the request came from has an upstream server, too. */
static int connect_upstream(int client)
{
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (getpeername(client, (struct sockaddr *)&address, &size))
		perror("profile_burn: getpeername");
	address.sin_port = htons(UPSTREAM_PORT);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		perror("profile_burn: upstream");
	return fd;
}

__attribute__((noinline)) static void ask_upstream(int client)
{
	int fd = connect_upstream(client);
	char answer[256];

	if (write(fd, QUESTION, strlen(QUESTION)) == (ssize_t)strlen(QUESTION))
		while (read(fd, answer, sizeof(answer)) > 0)
			;
	close(fd);
}

/* Writes down that a stage took from `start` to now; returns when the next one may begin. */
static uint64_t tell(uint64_t start, const struct work *work, const char *stage)
{
	const uint64_t end = truth_now();
	char id[64];

	snprintf(id, sizeof(id), "%s.%s", work->id, stage);
	truth_write(start, end, id);
	return truth_now();
}

void wait_around(const struct work *work, int client)
{
	uint64_t at = truth_now();

	if (take_nap())
		perror("profile_burn: usleep");
	at = tell(at, work, "take_nap");
	if (take_lock())
		abort();
	at = tell(at, work, "take_lock");
	hold_lock();
	at = tell(at, work, "hold_lock");
	ask_upstream(client);
	tell(at, work, "ask_upstream");
	usleep(REST_US);
}
