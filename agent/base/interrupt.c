// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/interrupt.h"
#include "base/stop.h"

#define LOOK_MS  20 /* whether we were told to end */
#define AGAIN_MS 2  /* libbpf tries some calls five times */

static void nothing(int signal)
{
	(void)signal;
}

/* Each thread but this one. */
static void interrupt_all(void)
{
	_cleanup_closedir_ DIR *threads = opendir("/proc/self/task");
	const struct dirent *entry;
	long own = syscall(SYS_gettid);

	while (threads && (entry = readdir(threads))) {
		long thread = strtol(entry->d_name, NULL, 10);

		if (thread > 0 && thread != own)
			syscall(SYS_tgkill, getpid(), thread, SIGUSR1);
	}
}

static void *watch(void *data)
{
	struct pollfd end = {.fd = *(const int *)data, .events = POLLIN};
	bool stops = false;

	while (poll(&end, 1, stops ? AGAIN_MS : LOOK_MS) <= 0) {
		stops = stop_asked();
		if (stops)
			interrupt_all();
	}
	return NULL;
}

/* 0 or an error number. */
static int take_signal(void)
{
	const struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};

	return sigaction(SIGUSR1, &action, NULL) ? errno : 0;
}

int interrupt_begin(struct interrupt *ret_interrupt)
{
	struct interrupt *i = ret_interrupt;
	int err;

	i->end_fd = eventfd(0, EFD_CLOEXEC);
	if (i->end_fd < 0)
		return -errno;
	err = take_signal();
	if (!err)
		err = pthread_create(&i->watcher, NULL, watch, &i->end_fd);
	if (err) {
		cleanup_close(&i->end_fd);
		i->end_fd = -1;
	}
	return -err;
}

void interrupt_end(struct interrupt *interrupt)
{
	if (interrupt->end_fd < 0)
		return;
	eventfd_write(interrupt->end_fd, 1);
	pthread_join(interrupt->watcher, NULL);
	cleanup_close(&interrupt->end_fd);
}

void interrupt_join(pthread_t thread)
{
	struct timespec until;
	int err = take_signal();

	while (!err) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += AGAIN_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_timedjoin_np(thread, NULL, &until) != ETIMEDOUT)
			return;
		interrupt_all();
	}
	pthread_join(thread, NULL);
}
