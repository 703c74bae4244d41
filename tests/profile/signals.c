// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#include "signals.h"

#define BETWEEN_US 5000
#define HANDLER_NS 1000000
#define STACK_SIZE 65536

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void on_signal(int number)
{
	const uint64_t end = thread_ns() + HANDLER_NS;

	(void)number;
	while (thread_ns() < end)
		;
}

void signals_take(void)
{
	const struct itimerval timer = {{0, BETWEEN_US}, {0, BETWEEN_US}};
	const struct sigaction action = {.sa_handler = on_signal,
					 .sa_flags = SA_RESTART | SA_ONSTACK};
	static _Thread_local char stack[STACK_SIZE];

	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof(stack)}, NULL);
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &timer, NULL);
}
