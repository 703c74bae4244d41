// SPDX-License-Identifier: Apache-2.0
/* Calls that take long end when the process is told to, and not before. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/interrupt.h"
#include "base/stop.h"

#define LONG_NS   200000000L /* the watcher looks more often than that */
#define SLEEP_S   20
#define AT_ONCE_S 5

static int block_stop(void **state)
{
	sigset_t signals;

	(void)state;
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	return sigprocmask(SIG_BLOCK, &signals, NULL);
}

/* It was asked for, and is waiting: take it away. */
static void forget_stop(void)
{
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	assert_int_equal(sigwait(&signals, &signal), 0);
	assert_false(stop_asked());
}

static void not_before(void **state)
{
	const struct timespec pause = {.tv_nsec = LONG_NS};
	struct interrupt interrupt;

	(void)state;
	assert_int_equal(interrupt_begin(&interrupt), 0);
	assert_int_equal(nanosleep(&pause, NULL), 0);
	interrupt_end(&interrupt);
}

/* Each of several calls, as a library would try again. */
static void again_and_again(void **state)
{
	const struct timespec pause = {.tv_sec = SLEEP_S};
	struct interrupt interrupt;
	time_t begin = time(NULL);

	(void)state;
	assert_int_equal(interrupt_begin(&interrupt), 0);
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(nanosleep(&pause, NULL), -1);
		assert_int_equal(errno, EINTR);
	}
	interrupt_end(&interrupt);
	assert_true(time(NULL) - begin < AT_ONCE_S);
	forget_stop();
}

static void no_more_when_it_is_over(void **state)
{
	const struct timespec pause = {.tv_nsec = LONG_NS};
	struct interrupt interrupt;

	(void)state;
	assert_int_equal(interrupt_begin(&interrupt), 0);
	interrupt_end(&interrupt);
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	assert_int_equal(nanosleep(&pause, NULL), 0);
	forget_stop();
}

static void *sleep_on(void *data)
{
	const struct timespec pause = {.tv_sec = SLEEP_S};
	int *interrupted = data;

	for (int i = 0; i < 5; i++)
		*interrupted += nanosleep(&pause, NULL) && errno == EINTR;
	return NULL;
}

/* Nobody was told to end but the thread. */
static void of_who_is_waited_for(void **state)
{
	time_t begin = time(NULL);
	int interrupted = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleep_on, &interrupted), 0);
	interrupt_join(thread);
	assert_int_equal(interrupted, 5);
	assert_true(time(NULL) - begin < AT_ONCE_S);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(not_before),
	    cmocka_unit_test(again_and_again),
	    cmocka_unit_test(no_more_when_it_is_over),
	    cmocka_unit_test(of_who_is_waited_for),
	};

	return cmocka_run_group_tests(tests, block_stop, NULL);
}
