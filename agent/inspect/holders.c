// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <bpf/bpf.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/number.h"
#include "inspect/holders.h"

static const char socket_prefix[] = "socket:[";

static int add(struct holders *holders, const struct holder *holder)
{
	struct holder *list = list_add(&holders->holder, &holders->count, sizeof(*list));

	if (!list)
		return -ENOMEM;
	*list = *holder;
	return 0;
}

/* The inode of the socket that a descriptor is; 0: it is none. */
static __u64 inode_of(int folder_fd, const char *name)
{
	char target[64];
	ssize_t length = readlinkat(folder_fd, name, target, sizeof(target) - 1);

	target[length > 0 ? length : 0] = '\0';
	if (strncmp(target, socket_prefix, sizeof(socket_prefix) - 1) != 0)
		return 0;
	return strtoull(target + sizeof(socket_prefix) - 1, NULL, 10);
}

/* The sockets of one process; one that is gone, or is none of ours, has none. */
static int add_process(struct holders *holders, pid_t pid)
{
	struct holder holder = {.pid = pid};
	const struct dirent *entry;
	unsigned long fd;
	char path[32];
	int err = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	_cleanup_closedir_ DIR *folder = opendir(path);

	while (!err && folder && (entry = readdir(folder))) {
		if (number_parse(entry->d_name, 0, INT_MAX, &fd))
			continue;
		holder.fd = (int)fd;
		holder.inode = inode_of(dirfd(folder), entry->d_name);
		if (holder.inode)
			err = add(holders, &holder);
	}
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct holder *one = a, *two = b;

	return (one->inode > two->inode) - (one->inode < two->inode);
}

int holders_read(struct holders *ret_holders)
{
	_cleanup_closedir_ DIR *proc = opendir("/proc");
	const struct dirent *entry;
	unsigned long pid;
	int err = 0;

	*ret_holders = (struct holders){};
	if (!proc)
		return -errno;
	while (!err && (entry = readdir(proc)))
		if (!number_parse(entry->d_name, 1, INT_MAX, &pid))
			err = add_process(ret_holders, (pid_t)pid);
	if (err)
		holders_free(ret_holders);
	else if (ret_holders->count)
		qsort(ret_holders->holder, ret_holders->count, sizeof(struct holder), compare);
	return err;
}

void holders_free(struct holders *holders)
{
	free(holders->holder);
	*holders = (struct holders){};
}

/* A descriptor of ours for that of a process; or -errno. */
static int take_descriptor(const struct holder *holder)
{
	_cleanup_close_ int process = (int)syscall(SYS_pidfd_open, holder->pid, 0);
	int fd = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, holder->fd, 0);

	return fd < 0 ? -errno : fd;
}

int holders_socket(const struct holders *holders, int sockets_fd, __u64 inode,
		   struct socket *ret_socket)
{
	const struct holder wanted = {.inode = inode}, *found;

	found = holders->count
		    ? bsearch(&wanted, holders->holder, holders->count, sizeof(wanted), compare)
		    : NULL;
	if (!found)
		return -ENOENT;
	_cleanup_close_ int fd = take_descriptor(found);

	return fd < 0 ? fd : bpf_map_lookup_elem(sockets_fd, &fd, ret_socket);
}
