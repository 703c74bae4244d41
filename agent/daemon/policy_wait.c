// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/policy_wait.h"

#define LOOK_MS 2000

/* Identity and state of a file; all zero: there is none. */
struct version {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec changed;
};

static struct version version_of(const char *file)
{
	struct stat now;

	if (stat(file, &now))
		return (struct version){};
	return (struct version){now.st_dev, now.st_ino, now.st_size, now.st_mtim};
}

static bool is_same(const struct version *a, const struct version *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Wait for a signal. Returns its number; 0: there was none. */
static unsigned int wait_for_signal(int signal_fd)
{
	struct pollfd asked = {.fd = signal_fd, .events = POLLIN};
	struct signalfd_siginfo signal;

	if (poll(&asked, 1, LOOK_MS) <= 0 ||
	    read(signal_fd, &signal, sizeof(signal)) != sizeof(signal))
		return 0;
	return signal.ssi_signo;
}

int policy_wait(struct policies *policies, const char *file, int signal_fd)
{
	const char *path = policies->file;
	struct version read = version_of(path);
	int err = -EINVAL;

	log_warning(
	    "policy-waiting",
	    "policy: waiting until %s can be used; until then nothing is attached or edited", path);
	while (err) {
		unsigned int signal = wait_for_signal(signal_fd);
		struct version now = version_of(path);

		if (signal && signal != SIGHUP)
			return -ECANCELED;
		if (!signal && is_same(&now, &read))
			continue;
		read = now;
		err = policies_read(policies, file);
	}
	return 0;
}
