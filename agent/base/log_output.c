// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log_output.h"

_Static_assert(LOG_OUTPUT_MAX <= PIPE_BUF, "a pipe takes it at once or not at all");

enum kind {
	KIND_UNKNOWN,
	KIND_FILE,   /* writing does not wait for anybody */
	KIND_SOCKET, /* of a journal */
	KIND_PIPE,   /* or a terminal */
};

static enum kind kind;
static int fd = STDERR_FILENO;

/*
 * O_NONBLOCK belongs to what others, too, have open as their stderr, so it must not be set there: a
 * pipe or a terminal is opened once more. Where that is refused, stderr is asked before each write.
 */
static void choose(void)
{
	struct stat file;
	int own;

	if (fstat(STDERR_FILENO, &file) || S_ISREG(file.st_mode)) {
		kind = KIND_FILE;
		return;
	}
	kind = S_ISSOCK(file.st_mode) ? KIND_SOCKET : KIND_PIPE;
	if (kind == KIND_SOCKET)
		return;
	own = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_APPEND | O_CLOEXEC);
	if (own >= 0)
		fd = own;
}

/* Is there room? Asked even of what does not block: a pipe that is full costs no write then. */
static bool has_room(void)
{
	struct pollfd asked = {.fd = fd, .events = POLLOUT};

	return poll(&asked, 1, 0) != 0;
}

bool log_output(const char *text, size_t size)
{
	ssize_t written;

	if (kind == KIND_UNKNOWN)
		choose();
	if (kind == KIND_SOCKET)
		written = send(STDERR_FILENO, text, size, MSG_DONTWAIT | MSG_NOSIGNAL);
	else if (kind == KIND_FILE || has_room())
		written = write(fd, text, size);
	else
		return false;
	/* Of any other error nobody would ever hear. */
	return written >= 0 || (errno != EAGAIN && errno != EINTR && errno != ENOBUFS);
}
