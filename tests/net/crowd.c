// SPDX-License-Identifier: Apache-2.0
/*
 * Many programs that listen, each out of a file of its own, so that each has to be looked at.
 *
 *     net_crowd FOLDER COUNT AT_ONCE
 *
 * Copies of this program are made in the folder and started. When AT_ONCE wait, "ready" is written;
 * a line of the standard input makes them all listen at the same time. Then one after the other
 * ends, and another one takes its place, until there were COUNT; those that are left end with the
 * standard input.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE_MAX 1024
#define LISTENS     "listens"

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(EXIT_FAILURE);
}

/* One of the crowd: waits for the word, and listens at whatever port. */
static _Noreturn void listens(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct pollfd word = {.fd = STDIN_FILENO};

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(STDOUT_FILENO, "", 1) != 1 || poll(&word, 1, -1) != 1)
		fail("word");
	if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof(any)) || listen(fd, 1))
		fail("listen");
	for (;;)
		pause();
}

static void copy_to(const char *path)
{
	const int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
		  to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	struct stat file;

	if (from < 0 || to < 0 || fstat(from, &file) ||
	    sendfile(to, from, NULL, (size_t)file.st_size) != file.st_size)
		fail(path);
	close(from);
	close(to);
}

/* Start a program of the crowd, which listens once the other end of `word` is closed. */
static pid_t start(const char *folder, long number, int word)
{
	char path[256], byte;
	int said[2];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/crowd_%04ld", folder, number);
	copy_to(path);
	if (pipe2(said, O_CLOEXEC))
		fail("pipe2");
	pid = fork();
	if (!pid) {
		dup2(word, STDIN_FILENO);
		dup2(said[1], STDOUT_FILENO);
		execl(path, path, LISTENS, NULL);
		fail(path);
	}
	close(said[1]);
	if (pid < 0 || read(said[0], &byte, 1) != 1)
		fail("fork");
	close(said[0]);
	unlink(path);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Does the input end? Its first line was read already. */
static int is_over(int wait_ms)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	return poll(&input, 1, wait_ms) > 0;
}

int main(int argc, char **argv)
{
	const long count = argc > 3 ? atol(argv[2]) : 0, at_once = argc > 3 ? atol(argv[3]) : 0;
	pid_t running[AT_ONCE_MAX] = {};
	int word[2];
	char byte;

	if (argc > 1 && !strcmp(argv[1], LISTENS))
		listens();
	if (at_once < 1 || at_once > AT_ONCE_MAX || count < at_once || pipe2(word, O_CLOEXEC))
		return EXIT_FAILURE;
	for (long i = 0; i < at_once; i++)
		running[i] = start(argv[1], i, word[0]);
	puts("ready");
	fflush(stdout);
	if (read(STDIN_FILENO, &byte, 1) != 1)
		return EXIT_FAILURE;
	close(word[1]);
	for (long i = at_once; i < count && !is_over(0); i++) {
		end(running[i % at_once]);
		running[i % at_once] = start(argv[1], i, word[0]);
	}
	is_over(-1);
	return EXIT_SUCCESS; /* and all that run end with it */
}
