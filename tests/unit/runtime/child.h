/* SPDX-License-Identifier: Apache-2.0 */
/* A real program, in a process that is looked at. Include cmocka.h before. */
#ifndef CTXPROP_TESTS_CHILD_H
#define CTXPROP_TESTS_CHILD_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Start it, and wait until it has written one byte: it is as far as the test wants it. */
static inline pid_t child_start(const char *const argv[])
{
	int ends[2];
	char said;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDOUT_FILENO);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &said, 1), 1);
	close(ends[0]);
	return pid;
}

static inline void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif
