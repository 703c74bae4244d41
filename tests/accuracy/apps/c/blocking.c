// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blocking.h"
#include "plan.h"

#define THREADS_MAX  8
#define KEPT_MAX     64
#define NEW_PER_CENT 30 /* of the calls do not use a kept connection */

/* Idle connections to the upstream; any thread of the process may take one. */
static struct {
	pthread_mutex_t lock;
	int fd[KEPT_MAX];
	unsigned count;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static int take_connection(void)
{
	int fd = -1;

	pthread_mutex_lock(&kept.lock);
	if (kept.count && random() % 100 >= NEW_PER_CENT)
		fd = kept.fd[--kept.count];
	pthread_mutex_unlock(&kept.lock);
	return fd;
}

static void keep_connection(int fd)
{
	pthread_mutex_lock(&kept.lock);
	if (kept.count < KEPT_MAX) {
		kept.fd[kept.count++] = fd;
		fd = -1;
	}
	pthread_mutex_unlock(&kept.lock);
	if (fd >= 0)
		close(fd);
}

static int connect_upstream(void)
{
	struct sockaddr_in address = upstream_address();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		perror("connect");
		exit(1);
	}
	set_nodelay(fd);
	return fd;
}

/* Reads until the bytes end with `last`. Returns their number, 0 when the stream ends before. */
static size_t read_until(int fd, const char *last, char text[HEAD_MAX])
{
	size_t length = strlen(last), used = 0;

	while (used < length || memcmp(text + used - length, last, length)) {
		ssize_t n = recv(fd, text + used, HEAD_MAX - 1 - used, 0);

		if (n <= 0)
			return 0;
		used += (size_t)n;
	}
	text[used] = '\0';
	return used;
}

static void call_upstream(const char *truth)
{
	char text[CALL_MAX], answer[HEAD_MAX];
	size_t length = call_text(truth, text);
	int fd = take_connection();

	if (fd < 0)
		fd = connect_upstream();
	if (send(fd, text, length, MSG_NOSIGNAL) != (ssize_t)length ||
	    !read_until(fd, LAST_BYTES, answer)) {
		fputs("the upstream closed a connection\n", stderr);
		exit(1);
	}
	keep_connection(fd);
}

static void *call_thread(void *truth)
{
	call_upstream(truth);
	return NULL;
}

static pthread_t start_call(struct plan *plan)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, call_thread, plan->truth)) {
		perror("pthread_create");
		exit(1);
	}
	return thread;
}

static void call_from_child(const char *truth)
{
	pid_t child = fork();

	if (!child) {
		kept.count = 0; /* those are the parent's */
		call_upstream(truth);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void call_once(struct plan *plan)
{
	switch (plan->mode) {
	case 't':
		pthread_join(start_call(plan), NULL);
		break;
	case 'f':
		call_from_child(plan->truth);
		break;
	default:
		call_upstream(plan->truth);
	}
}

static void call_all(struct plan *plan)
{
	unsigned calls = plan->calls < THREADS_MAX ? plan->calls : THREADS_MAX;
	pthread_t thread[THREADS_MAX];

	for (unsigned i = 0; i < calls; i++)
		thread[i] = start_call(plan);
	for (unsigned i = 0; i < calls; i++)
		pthread_join(thread[i], NULL);
}

static void work(struct plan *plan)
{
	usleep(plan->before * 1000);
	if (plan->mode == 'p')
		call_all(plan);
	for (unsigned i = 0; i < plan->calls && plan->mode != 'p'; i++) {
		if (i)
			usleep(plan->between * 1000);
		call_once(plan);
	}
	usleep(plan->after * 1000);
}

void serve_connection(int fd, bool once)
{
	char head[HEAD_MAX];
	struct plan plan = {};

	set_nodelay(fd);
	while (!plan.close && read_until(fd, "\r\n\r\n", head)) {
		const char *answer;

		if (plan_read(head, &plan))
			break;
		work(&plan);
		plan.close |= once;
		answer = plan.close ? ANSWER_CLOSE : ANSWER_OK;
		if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
			break;
	}
	close(fd);
}
