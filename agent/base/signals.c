// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "base/signals.h"

int signals_take(const int *signals, int ignored)
{
	sigset_t set;
	int fd;

	if (signal(ignored, SIG_IGN) == SIG_ERR)
		return -errno;
	sigemptyset(&set);
	for (; *signals; signals++)
		sigaddset(&set, *signals);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return -errno;
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}
