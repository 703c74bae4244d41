// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/hash.h"

#define NS_PER_MS (NS_PER_SECOND / 1000)
#define STAT_MAX  1024
#define LOOKS_MIN 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pid_t left[CHILD_LEFT_MAX]; /* 0: free */

/* What /proc tells of a child, state and counters: it changes when the child has run. */
static size_t read_stat(pid_t pid, char text[STAT_MAX])
{
	char path[32];
	_cleanup_close_ int fd = -1;
	ssize_t size;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	size = fd < 0 ? -1 : read(fd, text, STAT_MAX - 1);
	text[size > 0 ? size : 0] = '\0';
	return size > 0 ? (size_t)size : 0;
}

/* Does it run, or wait for a processor? The state is behind the name. */
static bool is_running(const char *text)
{
	const char *name_end = strrchr(text, ')');

	return !name_end || name_end[1] != ' ' || name_end[2] == 'R';
}

__u64 child_still_ns(struct child_progress *progress, pid_t pid)
{
	const __u64 now_ns = clock_now_ns();
	char text[STAT_MAX];
	const __u64 seen = hash_add(HASH_BEGIN, text, read_stat(pid, text));

	if (!progress->since_ns || seen != progress->seen || is_running(text))
		*progress = (struct child_progress){.seen = seen, .since_ns = now_ns};
	return ++progress->looks > LOOKS_MIN ? now_ns - progress->since_ns : 0;
}

static bool has_ended(pid_t pid)
{
	const pid_t ended = waitpid(pid, NULL, WNOHANG);

	return ended == pid || (ended < 0 && errno == ECHILD);
}

static unsigned int count_left(void)
{
	unsigned int count = 0;

	for (size_t i = 0; i < CHILD_LEFT_MAX; i++) {
		if (left[i] && has_ended(left[i]))
			left[i] = 0;
		count += left[i] != 0;
	}
	return count;
}

/* If there is no free place, it stays a zombie until this process ends. */
static void leave(pid_t pid)
{
	size_t i = 0;

	pthread_mutex_lock(&mutex);
	count_left();
	while (i < CHILD_LEFT_MAX && left[i])
		i++;
	if (i < CHILD_LEFT_MAX)
		left[i] = pid;
	pthread_mutex_unlock(&mutex);
}

void child_kill(pid_t pid, int pidfd, int most_ms)
{
	struct pollfd ended = {.fd = pidfd, .events = POLLIN};
	const __u64 end_ns = clock_now_ns() + (__u64)most_ms * NS_PER_MS;

	kill(pid, SIGKILL);
	while (pidfd >= 0 && poll(&ended, 1, clock_ms_until(end_ns)) < 0 && errno == EINTR)
		;
	if (!has_ended(pid))
		leave(pid);
}

unsigned int child_left(void)
{
	unsigned int count;

	pthread_mutex_lock(&mutex);
	count = count_left();
	pthread_mutex_unlock(&mutex);
	return count;
}
