// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "daemon/follower.h"
#include "daemon/runtimes_log.h"
#include "runtime/runtimes.h"
#include "runtime/uprobe_returns.h"

struct follower {
	struct runtimes *runtimes;
	pthread_t thread;
	int stop_fd;   /* eventfd(2) */
	int ready_fd;  /* eventfd(2) */
	bool preloads; /* what nobody needs yet may be loaded */
	bool spares;   /* but not what takes much memory */
	pthread_mutex_t lock;
	pthread_cond_t news;
	bool settled; /* with what was known until then */
};

static void settle(struct follower *follower)
{
	pthread_mutex_lock(&follower->lock);
	follower->settled = true;
	pthread_cond_broadcast(&follower->news);
	pthread_mutex_unlock(&follower->lock);
}

/* Returns 1 when told to stop, 0 otherwise, with whether the runtimes have news; or -errno. */
static int wait_for_news(struct follower *follower, bool *ret_news)
{
	struct pollfd fds[] = {
	    {.fd = follower->stop_fd, .events = POLLIN},
	    {.fd = runtimes_fd(follower->runtimes), .events = POLLIN},
	    {.fd = follower->preloads ? -1 : follower->ready_fd, .events = POLLIN},
	};

	*ret_news = false;
	if (poll(fds, sizeof(fds) / sizeof(fds[0]), runtimes_due_ms(follower->runtimes)) < 0)
		return errno == EINTR ? 0 : -errno;
	*ret_news = fds[1].revents;
	follower->preloads |= fds[2].revents != 0;
	return fds[0].revents ? 1 : 0;
}

static bool has_input(const struct follower *follower)
{
	struct pollfd fd = {.fd = runtimes_fd(follower->runtimes), .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

/* One look at what there is to do. 0 or -errno. */
static int turn(struct follower *follower, bool has_news)
{
	int err = has_news ? runtimes_update(follower->runtimes) : 0;

	if (!err)
		err = runtimes_do(follower->runtimes);
	if (!err && follower->preloads)
		runtimes_preload(follower->runtimes, !follower->spares);
	if (!err && runtimes_is_done(follower->runtimes) && !has_input(follower))
		settle(follower);
	return err;
}

static void *follow(void *data)
{
	struct follower *follower = data;
	bool has_news = false;
	int err, stops = 0;

	if (!uprobe_returns_are_safe())
		log_warning("uretprobes-unsafe",
			    "no probes on function returns, so calls for items of Python queues "
			    "begin new traces: on this kernel a seccomp filter can forbid the "
			    "kernel's own uretprobe(), which Linux 6.14 fixed");
	do {
		err = turn(follower, has_news);
		if (!err)
			stops = wait_for_news(follower, &has_news);
	} while (!err && !stops);
	if (err || stops < 0)
		log_warning("uprobes-stopped",
			    "probes in programs have stopped, so calls made by goroutines and "
			    "Python tasks begin new traces: %s",
			    strerror(err ? -err : -stops));
	settle(follower);
	return NULL;
}

static int open_all(enum publish_mode publish, bool http2, struct follower *follower)
{
	pthread_condattr_t monotonic;
	int err;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&follower->news, &monotonic);
	pthread_condattr_destroy(&monotonic);
	pthread_mutex_init(&follower->lock, NULL);
	follower->stop_fd = eventfd(0, EFD_CLOEXEC);
	follower->ready_fd = eventfd(0, EFD_CLOEXEC);
	if (follower->stop_fd < 0 || follower->ready_fd < 0)
		return -errno;
	err = runtimes_open(runtimes_log, runtimes_log_lack, publish, http2, &follower->runtimes);
	if (err)
		return err;
	return -pthread_create(&follower->thread, NULL, follow, follower);
}

static void free_all(struct follower *follower)
{
	runtimes_close(follower->runtimes);
	cleanup_close(&follower->stop_fd);
	cleanup_close(&follower->ready_fd);
	pthread_cond_destroy(&follower->news);
	pthread_mutex_destroy(&follower->lock);
	free(follower);
}

int follower_start(enum publish_mode publish, bool spares, bool http2,
		   struct follower **ret_follower)
{
	struct follower *follower = calloc(1, sizeof(*follower));
	int err = follower ? 0 : -ENOMEM;

	if (follower)
		follower->spares = spares;
	if (!err)
		err = open_all(publish, http2, follower);

	if (err && follower)
		free_all(follower);
	if (!err)
		*ret_follower = follower;
	return err;
}

void follower_settle(struct follower *follower, unsigned int limit_ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += (long)limit_ms % 1000 * 1000000;
	until.tv_sec += limit_ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&follower->lock);
	while (!follower->settled &&
	       !pthread_cond_timedwait(&follower->news, &follower->lock, &until))
		;
	pthread_mutex_unlock(&follower->lock);
}

void follower_preload(struct follower *follower)
{
	eventfd_write(follower->ready_fd, 1);
}

void follower_stop(struct follower *follower)
{
	if (!follower)
		return;
	eventfd_write(follower->stop_fd, 1);
	pthread_join(follower->thread, NULL);
	free_all(follower);
}
