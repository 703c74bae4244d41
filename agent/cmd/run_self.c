// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "cmd/run_self.h"

#define WORDS_MAX   8
#define BYTES_MAX   (1024UL * 1024)
#define SECONDS_MAX 10

/* In the new process. */
__attribute__((noreturn)) static void become(const char *const *words, int output)
{
	const char *argv[WORDS_MAX + 3] = {"ctxprop", "--color=never"};

	for (size_t i = 0; i < WORDS_MAX && words[i]; i++)
		argv[i + 2] = words[i];
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	execv("/proc/self/exe", (char *const *)argv);
	_exit(127);
}

/* Copy until the end of what comes. False: there was too much, or it took too long. */
static bool copy(int input, FILE *out)
{
	const __u64 end_ns = clock_now_ns() + SECONDS_MAX * NS_PER_SECOND;
	struct pollfd asked = {.fd = input, .events = POLLIN};
	size_t left = BYTES_MAX;
	char piece[4096];
	ssize_t size = 1;

	while (size > 0 && left >= sizeof(piece)) {
		if (poll(&asked, 1, clock_ms_until(end_ns)) <= 0)
			return false;
		size = read(input, piece, sizeof(piece));
		if (size > 0)
			left -= fwrite(piece, 1, (size_t)size, out);
	}
	return size <= 0;
}

void run_self(const char *const *words, FILE *out)
{
	int ends[2], status = 0;
	bool whole;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC)) {
		fprintf(out, "(%s)\n", strerror(errno));
		return;
	}
	pid = fork();
	if (!pid)
		become(words, ends[1]);
	cleanup_close(&ends[1]);
	whole = pid > 0 && copy(ends[0], out);
	cleanup_close(&ends[0]);
	if (pid > 0 && !whole)
		kill(pid, SIGKILL);
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (!whole)
		fputs("(the rest is left out: too much, or it took too long)\n", out);
	if (status)
		fprintf(out, "(exit status %d)\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}
