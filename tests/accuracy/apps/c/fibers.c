// SPDX-License-Identifier: Apache-2.0
/*
 * accuracy_fibers ADDRESS:PORT: what runtimes with threads of their own do (Haskell's, say). Each
 * connection is served by a fiber, which goes on, whenever it has waited, on whichever thread is
 * free; epoll tells of each socket one shot at a time.
 *
 * MODE s: calls one after the other, on a connection each.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <ucontext.h>
#include <unistd.h>

#include "plan.h"

#define THREADS    4
#define STACK_SIZE 65536

/* What a fiber waits for; its thread tells epoll, once it is no longer at the fiber. */
struct fiber {
	ucontext_t context, *thread; /* its own, and where the thread goes on that is at it */
	int fd;                      /* of the connection */
	int waits_for, over;
	uint32_t events;
	char stack[STACK_SIZE];
};

static int epoll;

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void fiber_wait(struct fiber *fiber, int fd, uint32_t events)
{
	fiber->waits_for = fd;
	fiber->events = events;
	if (swapcontext(&fiber->context, fiber->thread))
		fail("swapcontext");
}

static void fiber_sleep(struct fiber *fiber, unsigned milliseconds)
{
	struct itimerspec due = {.it_value.tv_nsec = (long)milliseconds * 1000000};
	int timer;

	if (!milliseconds)
		return;
	timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (timer < 0 || timerfd_settime(timer, 0, &due, NULL))
		fail("timerfd");
	fiber_wait(fiber, timer, EPOLLIN);
	close(timer);
}

/* Errors are not looked at through errno, whose place depends on the thread. */
static ssize_t fiber_read(struct fiber *fiber, int fd, char *text, size_t size)
{
	ssize_t n = recv(fd, text, size, 0);

	if (n >= 0)
		return n;
	fiber_wait(fiber, fd, EPOLLIN);
	return recv(fd, text, size, 0);
}

/* Reads until the bytes end with `last`. Returns 0 when the stream ends before. */
static size_t read_until(struct fiber *fiber, int fd, const char *last, char text[HEAD_MAX])
{
	size_t length = strlen(last), used = 0;

	while (used < length || memcmp(text + used - length, last, length)) {
		ssize_t n = fiber_read(fiber, fd, text + used, HEAD_MAX - 1 - used);

		if (n <= 0)
			return 0;
		used += (size_t)n;
	}
	text[used] = '\0';
	return used;
}

static void call_upstream(struct fiber *fiber, const char *truth)
{
	char text[CALL_MAX], answer[HEAD_MAX];
	size_t length = call_text(truth, text);
	struct sockaddr_in address = upstream_address();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		fail("socket");
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		fiber_wait(fiber, fd, EPOLLOUT);
	if (send(fd, text, length, MSG_NOSIGNAL) != (ssize_t)length ||
	    !read_until(fiber, fd, LAST_BYTES, answer))
		fputs("the upstream closed a connection\n", stderr);
	close(fd);
}

static void serve(struct fiber *fiber)
{
	char head[HEAD_MAX];
	struct plan plan = {};

	while (!plan.close && read_until(fiber, fiber->fd, "\r\n\r\n", head)) {
		const char *answer;

		if (plan_read(head, &plan))
			break;
		fiber_sleep(fiber, plan.before);
		for (unsigned i = 0; i < plan.calls; i++) {
			fiber_sleep(fiber, i ? plan.between : 0);
			call_upstream(fiber, plan.truth);
		}
		fiber_sleep(fiber, plan.after);
		answer = plan.close ? ANSWER_CLOSE : ANSWER_OK;
		if (send(fiber->fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
			break;
	}
}

/* Pointers go through makecontext() in two halves: it takes ints. */
static void fiber_begin(unsigned high, unsigned low)
{
	struct fiber *fiber = (struct fiber *)((unsigned long)high << 32 | low);

	serve(fiber);
	close(fiber->fd);
	fiber->over = 1;
	swapcontext(&fiber->context, fiber->thread);
}

static void fiber_resume(struct fiber *fiber)
{
	struct epoll_event event = {.data.ptr = fiber};
	ucontext_t thread;

	fiber->thread = &thread;
	if (swapcontext(&thread, &fiber->context))
		fail("swapcontext");
	if (fiber->over) {
		free(fiber);
		return;
	}
	event.events = fiber->events | EPOLLONESHOT;
	if (epoll_ctl(epoll, EPOLL_CTL_MOD, fiber->waits_for, &event) &&
	    (errno != ENOENT || epoll_ctl(epoll, EPOLL_CTL_ADD, fiber->waits_for, &event)))
		fail("epoll_ctl");
}

static void *run_fibers(void *unused)
{
	struct epoll_event event;

	for (;;) {
		if (epoll_wait(epoll, &event, 1, -1) == 1)
			fiber_resume(event.data.ptr);
		else if (errno != EINTR)
			fail("epoll_wait");
	}
	return unused;
}

static void fiber_start(int fd)
{
	struct fiber *fiber = malloc(sizeof(*fiber));
	unsigned long address = (unsigned long)fiber;

	if (!fiber || getcontext(&fiber->context))
		fail("fiber");
	fiber->context.uc_stack.ss_sp = fiber->stack;
	fiber->context.uc_stack.ss_size = sizeof(fiber->stack);
	fiber->context.uc_link = NULL;
	fiber->over = 0;
	fiber->fd = fd;
	makecontext(&fiber->context, (void (*)(void))fiber_begin, 2, (unsigned)(address >> 32),
		    (unsigned)address);
	fiber_resume(fiber);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = address_of(argc == 2 ? argv[1] : "");
	int listener = listen_at(&address, 0);
	pthread_t thread;

	epoll = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread, NULL, run_fibers, NULL))
			fail("pthread_create");
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			fail("accept");
		set_nodelay(fd);
		fiber_start(fd);
	}
}
