// SPDX-License-Identifier: Apache-2.0
/*
 * samples_epoll PORT [pause] [background]
 *
 * One thread and one epoll loop: two slices for each request; pause: with a timer (timerfd) between
 * them, so that others are read meanwhile. background: a timer of the program's own, behind which
 * it burns for nobody.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "http.h"

#define EVENTS_MAX 64

/* What an event of the loop leads to. */
struct source {
	void (*ready)(struct source *source);
	int fd;
};

struct connection {
	struct source socket, timer;
	struct stream stream;
	bool pausing;
	char id[ID_MAX];
};

static int loop;
static bool with_pause;

static void watch(struct source *source)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};

	epoll_ctl(loop, EPOLL_CTL_ADD, source->fd, &event);
}

static void set_timer(int fd, long after_us, long each_us)
{
	struct itimerspec when = {.it_value.tv_nsec = after_us * 1000,
				  .it_interval.tv_nsec = each_us * 1000};

	timerfd_settime(fd, 0, &when, NULL);
}

static void read_timer(int fd)
{
	unsigned long long count;

	if (read(fd, &count, sizeof(count)) != sizeof(count))
		abort();
}

static void next_request(struct connection *it);

static void finish(struct connection *it)
{
	burn_slice(it->id);
	http_answer(it->stream.fd);
}

static void timer_ready(struct source *source)
{
	struct connection *it = (void *)((char *)source - offsetof(struct connection, timer));

	read_timer(source->fd);
	it->pausing = false;
	finish(it);
	next_request(it);
}

/* Begin what the buffer holds, one after the other. */
static void next_request(struct connection *it)
{
	while (!it->pausing && http_take(&it->stream, it->id)) {
		burn_slice(it->id);
		if (with_pause) {
			it->pausing = true;
			set_timer(it->timer.fd, PAUSE_US, 0);
		} else {
			finish(it);
		}
	}
}

static void socket_ready(struct source *source)
{
	struct connection *it = (void *)((char *)source - offsetof(struct connection, socket));

	if (http_fill(&it->stream)) {
		next_request(it);
		return;
	}
	close(it->timer.fd);
	close(it->stream.fd);
	free(it);
}

static void listener_ready(struct source *source)
{
	struct connection *it = calloc(1, sizeof(*it));

	if (!it)
		abort();
	it->stream.fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC);
	it->socket = (struct source){socket_ready, it->stream.fd};
	it->timer = (struct source){timer_ready, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
	watch(&it->socket);
	watch(&it->timer);
}

static void background_ready(struct source *source)
{
	read_timer(source->fd);
	burn_slice("-");
}

int main(int argc, char **argv)
{
	struct source listener = {listener_ready, http_listen(argv[1])};
	struct source own = {background_ready, timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)};
	struct epoll_event events[EVENTS_MAX];

	truth_open();
	loop = epoll_create1(EPOLL_CLOEXEC);
	watch(&listener);
	watch(&own);
	for (int i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "pause"))
			with_pause = true;
		else
			set_timer(own.fd, BACKGROUND_MS * 1000, BACKGROUND_MS * 1000);
	}
	for (;;) {
		int count = epoll_wait(loop, events, EVENTS_MAX, -1);

		for (int i = 0; i < count; i++) {
			struct source *source = events[i].data.ptr;

			source->ready(source);
		}
	}
}
