// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#include "logs/outlet.h"

/* A pipe that can be written takes so many bytes without a wait. */
#define STEP PIPE_BUF

static int write_some(int fd, const char **bytes, size_t *size)
{
	ssize_t n = write(fd, *bytes, *size < STEP ? *size : STEP);

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	*bytes += n;
	*size -= (size_t)n;
	return 0;
}

int outlet_write(int fd, const char *bytes, size_t size, int news_fd, void (*news)(void *data),
		 void *data)
{
	int err = 0;

	while (size && !err) {
		struct pollfd fds[] = {{.fd = fd, .events = POLLOUT},
				       {.fd = news_fd, .events = POLLIN}};

		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			news(data);
		if (fds[0].revents)
			err = write_some(fd, &bytes, &size);
	}
	return err;
}
