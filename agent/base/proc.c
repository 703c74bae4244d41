// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/number.h"
#include "base/proc.h"

#define PATH_TEXT_MAX 64
#define COMM_MAX      16 /* TASK_COMM_LEN */

const char *proc_comm(char *buffer, __u32 tgid, __u32 tid)
{
	char path[PATH_TEXT_MAX], comm[COMM_MAX];
	_cleanup_close_ int fd = -1;
	ssize_t length;

	buffer[0] = '\0';
	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", tgid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? -1 : read(fd, comm, sizeof(comm));
	/* The line end behind it is the kernel's; within it there may be others. */
	if (length > 1)
		foreign_copy_bytes(buffer, PROC_COMM_MAX, comm, (size_t)length - 1);
	return buffer;
}

int proc_socket_fd(__u32 tgid, __u64 inode)
{
	char path[PATH_TEXT_MAX], wanted[PATH_TEXT_MAX], target[PATH_TEXT_MAX];
	_cleanup_closedir_ DIR *dir = NULL;
	const struct dirent *entry;
	int lowest = -ENOENT;

	snprintf(path, sizeof(path), "/proc/%u/fd", tgid);
	snprintf(wanted, sizeof(wanted), "socket:[%llu]", (unsigned long long)inode);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		ssize_t length = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		unsigned long fd;

		if (length < 0 || number_parse(entry->d_name, 0, INT_MAX, &fd))
			continue;
		target[length] = '\0';
		if (!strcmp(target, wanted) && (lowest < 0 || (int)fd < lowest))
			lowest = (int)fd;
	}
	return lowest;
}
