// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"
#include "signals.h"

#define GOES_ON    "PROFILE_BURN_FOR" /* environment: whose work the program begins with */
#define GOES_ON_US 60000
#define CHILD_US   30000

static char **arguments;

void adverse_open(char **argv)
{
	const char *id = getenv(GOES_ON);

	arguments = argv;
	if (!id)
		return;
	unsetenv(GOES_ON);
	burn(&(struct work){.id = id, .traceparent = "", .cpu_us = GOES_ON_US});
	if (strcmp(id, "-") != 0)
		exit(EXIT_SUCCESS);
}

static void go_on_as(const char *id)
{
	setenv(GOES_ON, id, 1);
	execv("/proc/self/exe", arguments);
	abort();
}

/* A child burns for this request, then as another program; the thread itself burns meanwhile. */
static void make_child(const struct work *work)
{
	const pid_t child = fork();
	char id[64];

	if (!child) {
		snprintf(id, sizeof(id), "%s.child", work->id);
		burn(&(struct work){.id = id, .traceparent = "", .cpu_us = CHILD_US});
		snprintf(id, sizeof(id), "%s.exec", work->id);
		go_on_as(id);
	}
	burn(work);
	waitpid(child, NULL, 0);
}

void adverse_act(const struct work *work, int client, const char *action)
{
	if (!strcmp(action, "/exit"))
		pthread_exit(NULL);
	if (!strcmp(action, "/exec"))
		execl("/bin/sleep", "sleep", "1000", NULL);
	if (!strcmp(action, "/again")) {
		fcntl(client, F_SETFD, FD_CLOEXEC);
		go_on_as("-");
	}
	if (!strcmp(action, "/fork"))
		make_child(work);
	if (!strcmp(action, "/signals")) {
		signals_take();
		burn(work);
	}
	if (!strcmp(action, "/wait"))
		wait_around(work, client);
}
