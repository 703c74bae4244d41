// SPDX-License-Identifier: Apache-2.0
/*
 * Many processes, one after the other: each works for a while, and then stays. "ready" is written
 * when all have; they end with the standard input.
 *
 *     profile_crowd COUNT MILLISECONDS
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

static long cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static _Noreturn void work(long ms, int done_fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (cpu_ms() < ms)
		;
	if (write(done_fd, "", 1) != 1)
		exit(EXIT_FAILURE);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const long count = argc > 1 ? atol(argv[1]) : 0, ms = argc > 2 ? atol(argv[2]) : 0;
	int done[2];
	char byte;

	if (pipe(done))
		return EXIT_FAILURE;
	for (long i = 0; i < count; i++) {
		const pid_t pid = fork();

		if (!pid)
			work(ms, done[1]);
		if (pid < 0 || read(done[0], &byte, 1) != 1)
			return EXIT_FAILURE;
	}
	puts("ready");
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return EXIT_SUCCESS;
}
