// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/netns.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

int netns_cookie(__u64 *ret_cookie)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = sizeof(*ret_cookie);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_NETNS_COOKIE, ret_cookie, &size))
		return -errno;
	return 0;
}

int netns_enter(const char *which)
{
	char path[PATH_MAX];

	if (strchr(which, '/'))
		snprintf(path, sizeof(path), "%s", which);
	else if (which[strspn(which, "0123456789")] == '\0')
		snprintf(path, sizeof(path), "/proc/%s/ns/net", which);
	else
		snprintf(path, sizeof(path), "/run/netns/%s", which);

	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || setns(fd, CLONE_NEWNET))
		return -errno;
	return 0;
}

const char *netns_why(int err)
{
	if (err == -ENOENT)
		return "it does not exist; expected a name under /run/netns, a process id or a "
		       "path";
	return err == -EINVAL ? "this is not a network namespace" : strerror(-err);
}

int netns_cookie_of(const char *which, __u64 *ret_cookie)
{
	_cleanup_close_ int home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	int err = home < 0 ? -errno : netns_enter(which);

	if (err)
		return err;
	err = netns_cookie(ret_cookie);
	/* Cannot fail: this process came from there and kept the right to setns(). */
	return setns(home, CLONE_NEWNET) ? -errno : err;
}
