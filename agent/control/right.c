// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/proc.h"
#include "control/protocol.h"
#include "control/right.h"
#include "inspect/holders.h"

int control_right_show(int fd)
{
	static const int group = CONTROL_RIGHT_GROUP;

	return setsockopt(fd, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group, sizeof(group)) ? -errno
											  : 0;
}

int control_right_open(void)
{
	int fd = open("/proc/thread-self/net/netlink", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The fields of a line that are used, by number; groups are hexadecimal, all others decimal. */
enum { WORD_PROTOCOL = 1, WORD_PORT, WORD_GROUPS, WORD_INODE = 9, WORDS };

static bool read_line(char *line, __u32 port, struct control_right *ret_right)
{
	const char *word[WORDS] = {};
	char *rest = line;

	for (int i = 0; i < WORDS; i++) {
		word[i] = strtok_r(rest, " \n", &rest);
		if (!word[i])
			return false;
	}
	if (strtoul(word[WORD_PROTOCOL], NULL, 10) != NETLINK_USERSOCK ||
	    strtoul(word[WORD_PORT], NULL, 10) != port)
		return false;
	ret_right->inode = strtoull(word[WORD_INODE], NULL, 10);
	ret_right->admin = strtoul(word[WORD_GROUPS], NULL, 16) & CONTROL_RIGHT_BIT;
	return true;
}

/* Opened anew each time: a stream that is rewound may return what it has read before. */
static FILE *from_start(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *file = copy < 0 || lseek(copy, 0, SEEK_SET) ? NULL : fdopen(copy, "r");

	if (!file && copy >= 0)
		close(copy);
	return file;
}

int control_right_of(int fd, __u32 port, struct control_right *ret_right)
{
	FILE *file = from_start(fd);
	char line[256];
	int err = -ENOENT;

	if (!file)
		return -errno;
	while (err && fgets(line, sizeof(line), file))
		if (read_line(line, port, ret_right))
			err = 0;
	if (err && ferror(file))
		err = -EIO;
	fclose(file);
	return err;
}

pid_t control_right_holder(__u64 inode, pid_t said)
{
	struct holders holders;
	pid_t found = 0;

	if (said > 0 && proc_socket_fd((__u32)said, inode) >= 0)
		return said;
	if (holders_read(&holders))
		return 0;
	for (size_t i = 0; i < holders.count && !found; i++)
		if (holders.holder[i].inode == inode)
			found = holders.holder[i].pid;
	holders_free(&holders);
	return found;
}
