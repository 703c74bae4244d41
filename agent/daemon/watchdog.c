// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/log_output.h"
#include "daemon/watchdog.h"

#define NS_PER_MS     (NS_PER_SECOND / 1000)
#define SICK_NS       (WATCHDOG_SICK_SECONDS * NS_PER_SECOND)
#define LIMIT_NS      (WATCHDOG_LIMIT_MS * NS_PER_MS)
#define LINE_PAUSE_NS (10 * NS_PER_SECOND)
/* A turn that lasts this long is reported while it lasts. */
#define STUCK_SECONDS 1
#define WORK_NAME_MAX 64

/* State for the handler of SIGALRM. */
static const char *volatile now_at;
static timer_t timer;
/* The deadline of the current step, for other threads; 0: none. */
static _Atomic __u64 due_ns;
static bool has_timer;
static _Atomic __u64 longest_ns;
static int schedule_fd = -1;

/*
 * The main loop may be interrupted anywhere, also while it logs. So this calls only functions that
 * are safe in a signal handler (signal-safety(7)).
 */
static void on_alarm(int signal)
{
	static const char begin[] =
	    "warning: the daemon's loop is held up for more than a second by: ";
	const char *what = now_at;
	size_t length = strnlen(what, WORK_NAME_MAX);
	char line[sizeof(begin) + WORK_NAME_MAX];
	int err = errno;

	(void)signal;
	memcpy(line, begin, sizeof(begin) - 1);
	memcpy(line + sizeof(begin) - 1, what, length);
	line[sizeof(begin) - 1 + length] = '\n';
	log_output(line, sizeof(begin) + length);
	errno = err;
}

/* How long this thread has waited for a processor: the second number. 0: the kernel does not tell.
 */
static __u64 waited_ns(void)
{
	char line[64];
	ssize_t size = schedule_fd < 0 ? -1 : pread(schedule_fd, line, sizeof(line) - 1, 0);
	char *second;

	if (size <= 0)
		return 0;
	line[size] = '\0';
	second = strchr(line, ' ');
	return second ? strtoull(second, NULL, 10) : 0;
}

int watchdog_start(void)
{
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};

	schedule_fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	if (sigaction(SIGALRM, &action, NULL) || timer_create(CLOCK_MONOTONIC, &event, &timer))
		return -errno;
	has_timer = true;
	return 0;
}

/* 0: never. */
static void set_alarm(time_t seconds)
{
	const struct itimerspec when = {.it_value.tv_sec = seconds};

	if (has_timer)
		timer_settime(timer, 0, &when, NULL);
}

void watchdog_begin(struct watchdog *watchdog, const char *name)
{
	watchdog->waited_ns = waited_ns();
	watchdog->turn_ns = watchdog->mark_ns = clock_now_ns();
	watchdog->longest_ns = 0;
	watchdog->longest = now_at = name;
	due_ns = watchdog->turn_ns;
	set_alarm(STUCK_SECONDS);
}

void watchdog_mark(struct watchdog *watchdog, const char *name)
{
	__u64 now_ns = clock_now_ns();

	if (now_ns - watchdog->mark_ns > watchdog->longest_ns) {
		watchdog->longest_ns = now_ns - watchdog->mark_ns;
		watchdog->longest = now_at;
	}
	watchdog->mark_ns = now_ns;
	now_at = name;
}

static void say(struct watchdog *watchdog, __u64 now_ns)
{
	if (now_ns < watchdog->next_line_ns)
		return;
	log_warning("slow-turn",
		    "the main loop was held up for %llu ms, for %llu ms of it by: %s (%lu such "
		    "turns, %lu in all, the longest took %llu ms)",
		    (unsigned long long)((now_ns - watchdog->turn_ns) / NS_PER_MS),
		    (unsigned long long)(watchdog->longest_ns / NS_PER_MS), watchdog->longest,
		    watchdog->unsaid, watchdog->slow,
		    (unsigned long long)(watchdog->worst_ns / NS_PER_MS));
	watchdog->unsaid = 0;
	watchdog->next_line_ns = now_ns + LINE_PAUSE_NS;
}

static void keep_longest(const struct watchdog *watchdog, __u64 took_ns)
{
	const __u64 others_ns = waited_ns() - watchdog->waited_ns;

	if (took_ns > others_ns && took_ns - others_ns > longest_ns)
		longest_ns = took_ns - others_ns;
}

__u64 watchdog_longest_ns(void)
{
	return longest_ns;
}

void watchdog_end(struct watchdog *watchdog, int timeout_ms)
{
	__u64 took_ns;

	set_alarm(0);
	watchdog_mark(watchdog, "waiting");
	due_ns = timeout_ms < 0 ? 0 : watchdog->mark_ns + (__u64)timeout_ms * NS_PER_MS;
	took_ns = watchdog->mark_ns - watchdog->turn_ns;
	keep_longest(watchdog, took_ns);
	if (took_ns <= LIMIT_NS)
		return;
	watchdog->slow++;
	watchdog->unsaid++;
	if (took_ns > watchdog->worst_ns)
		watchdog->worst_ns = took_ns;
	say(watchdog, watchdog->mark_ns);
}

int watchdog_health_at(__u64 now_ns, char *ret_why, size_t size)
{
	__u64 due = due_ns;

	if (!due || now_ns < due + SICK_NS)
		return 0;
	snprintf(ret_why, size, "the daemon's loop has not turned for %llu seconds: %s",
		 (unsigned long long)((now_ns - due) / NS_PER_SECOND), now_at);
	return -ETIMEDOUT;
}

int watchdog_health(char *ret_why, size_t size)
{
	return watchdog_health_at(clock_now_ns(), ret_why, size);
}
