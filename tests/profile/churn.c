// SPDX-License-Identifier: Apache-2.0
/*
 * A program of which tests make many: copies in which its function has another name. It works for a
 * quarter of the time.
 *
 *     profile_churn MILLISECONDS
 */
#include <stdlib.h>
#include <time.h>

#define WORK_MS 5
#define REST_MS 15

static long ms_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

__attribute__((noinline, noclone)) static long churn_0000(void)
{
	const long end = ms_of(CLOCK_THREAD_CPUTIME_ID) + WORK_MS;
	long rounds = 0;

	while (ms_of(CLOCK_THREAD_CPUTIME_ID) < end)
		rounds++;
	return rounds;
}

int main(int argc, char **argv)
{
	const long end = ms_of(CLOCK_MONOTONIC) + (argc > 1 ? atol(argv[1]) : 0);
	long rounds = 0;

	while (ms_of(CLOCK_MONOTONIC) < end) {
		rounds += churn_0000();
		nanosleep(&(struct timespec){.tv_nsec = REST_MS * 1000000}, NULL);
	}
	return rounds < 0;
}
