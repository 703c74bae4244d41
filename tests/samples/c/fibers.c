// SPDX-License-Identifier: Apache-2.0
/*
 * samples_fibers PORT [background]
 *
 * A fiber (ucontext) for each connection, all in one thread: two slices for each request, and a
 * sleep between them, while which other fibers work. background: a fiber burns for nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <ucontext.h>
#include <unistd.h>

#include "http.h"

#define EVENTS_MAX  64
#define STACK_BYTES (128 << 10)

struct fiber {
	ucontext_t context;
	void (*body)(struct fiber *fiber);
	struct stream stream;
	int timer;
	bool over;
	char stack[STACK_BYTES];
};

static ucontext_t main_context;
static struct fiber *running;
static int loop;

static void begin(unsigned low, unsigned high)
{
	struct fiber *fiber = (void *)((uintptr_t)high << 32 | low);

	fiber->body(fiber);
	fiber->over = true;
	swapcontext(&fiber->context, &main_context);
}

static void resume(struct fiber *fiber)
{
	running = fiber;
	swapcontext(&main_context, &fiber->context);
	running = NULL;
	if (!fiber->over)
		return;
	close(fiber->stream.fd);
	close(fiber->timer);
	free(fiber);
}

static void yield(void)
{
	swapcontext(&running->context, &main_context);
}

static void watch(int fd, void *what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};

	epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
}

/* While this one sleeps, nothing is read from its connection. */
static void sleep_us(struct fiber *fiber, long us)
{
	struct itimerspec when = {.it_value.tv_nsec = us * 1000};
	unsigned long long count;

	timerfd_settime(fiber->timer, 0, &when, NULL);
	while (read(fiber->timer, &count, sizeof(count)) < 0 && errno == EAGAIN)
		yield();
}

static void serve(struct fiber *fiber)
{
	char id[ID_MAX];

	for (;;) {
		while (http_take(&fiber->stream, id)) {
			burn_slice(id);
			sleep_us(fiber, PAUSE_US);
			burn_slice(id);
			http_answer(fiber->stream.fd);
		}
		errno = 0;
		while (!http_fill(&fiber->stream)) {
			if (errno != EAGAIN)
				return;
			yield();
			errno = 0;
		}
	}
}

static void background(struct fiber *fiber)
{
	for (;;) {
		burn_slice("-");
		sleep_us(fiber, BACKGROUND_MS * 1000);
	}
}

static void make_fiber(void (*body)(struct fiber *), int fd)
{
	struct fiber *fiber = calloc(1, sizeof(*fiber));
	uintptr_t address = (uintptr_t)fiber;

	if (!fiber)
		abort();
	fiber->body = body;
	fiber->stream.fd = fd;
	fiber->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	watch(fiber->timer, fiber);
	if (fd >= 0)
		watch(fd, fiber);
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = sizeof(fiber->stack);
	makecontext(&fiber->context, (void (*)(void))begin, 2, (unsigned)address,
		    (unsigned)(address >> 32));
	resume(fiber);
}

int main(int argc, char **argv)
{
	int listener = http_listen(argv[1]);
	struct epoll_event events[EVENTS_MAX];

	truth_open();
	loop = epoll_create1(EPOLL_CLOEXEC);
	watch(listener, NULL);
	if (argc > 2)
		make_fiber(background, -1);
	for (;;) {
		int count = epoll_wait(loop, events, EVENTS_MAX, -1);

		for (int i = 0; i < count; i++) {
			if (events[i].data.ptr)
				resume(events[i].data.ptr);
			else
				make_fiber(serve, accept4(listener, NULL, NULL,
							  SOCK_CLOEXEC | SOCK_NONBLOCK));
		}
	}
}
