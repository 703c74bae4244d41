// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/proc.h"
#include "control/protocol.h"
#include "control/right.h"
#include "flows/holders.h"

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

/* Address, protocol, port, groups, then five numbers that matter to nobody here, and the inode. */
static bool read_line(const char *line, __u32 port, struct control_right *ret_right)
{
	unsigned int protocol, found, groups;
	uint64_t inode;

	if (sscanf(line, "%*s %u %u %x %*s %*s %*s %*s %*s %" SCNu64, &protocol, &found, &groups,
		   &inode) != 4 ||
	    protocol != NETLINK_USERSOCK || found != port)
		return false;
	*ret_right = (struct control_right){.inode = inode, .admin = groups & CONTROL_RIGHT_BIT};
	return true;
}

/* A stream of its own each time: one that is rewound may tell what it has read before. */
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
