// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/journal.h"

#define HEAD_MAX_BYTES 256

/* JOURNAL_STREAM is "DEVICE:INODE", in decimal. It is inherited by children with another stderr. */
static bool names_stderr(const char *stream)
{
	unsigned long long device, inode;
	struct stat file;
	char *rest;

	if (!stream || fstat(STDERR_FILENO, &file))
		return false;
	device = strtoull(stream, &rest, 10);
	if (*rest != ':')
		return false;
	inode = strtoull(rest + 1, &rest, 10);
	return !*rest && file.st_dev == device && file.st_ino == inode;
}

bool journal_has_stderr(void)
{
	static enum { NOT_ASKED, NO, YES } answer;

	if (answer == NOT_ASKED)
		answer = names_stderr(getenv("JOURNAL_STREAM")) ? YES : NO;
	return answer == YES;
}

static int send_parts(struct iovec *parts, size_t count)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX,
				      .sun_path = "/run/systemd/journal/socket"};
	const struct msghdr message = {.msg_name = &address,
				       .msg_namelen = sizeof(address),
				       .msg_iov = parts,
				       .msg_iovlen = count};
	static int fd = -1;

	if (fd < 0)
		fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	return errno == ENOBUFS || errno == EINTR ? -EAGAIN : -errno;
}

int journal_send(int priority, const char *id, const char *text, size_t length)
{
	char head[HEAD_MAX_BYTES];
	int size = snprintf(head, sizeof(head),
			    "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\nCTXPROP_ID=%s\nMESSAGE=", priority,
			    program_invocation_short_name, id);
	struct iovec parts[] = {{head, (size_t)size}, {(void *)text, length}, {(void *)"\n", 1}};

	if (size < 0 || size >= HEAD_MAX_BYTES)
		return -EMSGSIZE;
	return send_parts(parts, sizeof(parts) / sizeof(parts[0]));
}
