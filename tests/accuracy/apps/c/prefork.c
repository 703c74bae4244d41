// SPDX-License-Identifier: Apache-2.0
/*
 * accuracy_prefork ADDRESS:PORT accept|fork: processes that block; modes as in blocking.h.
 *
 * accept: WORKERS children accept on one listener and serve one request per connection.
 * fork: the parent accepts and makes a child for each connection.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blocking.h"
#include "plan.h"

#define WORKERS 16

static int accept_one(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0) {
		perror("accept");
		exit(1);
	}
	return fd;
}

static _Noreturn void worker(int listener)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	srandom((unsigned)getpid());
	for (;;)
		serve_connection(accept_one(listener), true);
}

static void fork_workers(int listener)
{
	for (int i = 0; i < WORKERS; i++)
		if (!fork())
			worker(listener);
	for (;;)
		pause();
}

static void fork_per_connection(int listener)
{
	signal(SIGCHLD, SIG_IGN);
	for (;;) {
		int fd = accept_one(listener);

		if (!fork()) {
			signal(SIGCHLD, SIG_DFL);
			close(listener);
			serve_connection(fd, false);
			_exit(0);
		}
		close(fd);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = address_of(argc == 3 ? argv[1] : "");
	int listener = listen_at(&address, 0);

	if (strcmp(argv[2], "fork"))
		fork_workers(listener);
	fork_per_connection(listener);
}
