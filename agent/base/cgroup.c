// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/cgroup.h"
#include "base/cleanup.h"

#define HANDLE_KERNFS 0xfe /* FILEID_KERNFS: the handle is the id */
#define ROOT_ID       1    /* the inode number of the root of all cgroups */

/* Where cgroup2 is mounted: /sys/fs/cgroup, or .../unified beside version 1. NULL: nowhere. */
static const char *mount_point(void)
{
	static const char *const usual[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct statfs fs;

	for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
		if (!statfs(usual[i], &fs) && (unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC)
			return usual[i];
	return NULL;
}

__u64 cgroup_id(const char *path)
{
	const char *root = mount_point();
	char whole[PATH_MAX];
	struct stat status;

	if (!root || snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
		return 0;
	/* The inode number of a cgroup's directory is its id. */
	return !stat(whole, &status) && S_ISDIR(status.st_mode) ? status.st_ino : 0;
}

int cgroup_open(const char *path)
{
	const char *root = mount_point();
	char whole[PATH_MAX];
	int fd;

	if (!root)
		return -ENOENT;
	if (snprintf(whole, sizeof(whole), "%s%s", root, path) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	fd = open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cgroup_open_root(void)
{
	const char *root = mount_point();
	_cleanup_close_ int fd = -1;
	struct stat status;

	if (!root)
		return -ENOENT;
	fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		return -errno;
	return status.st_ino == ROOT_ID ? take_fd(&fd) : -EXDEV;
}

/* Open a cgroup's directory by its id. The descriptor or -errno. */
static int open_by_id(const char *root, __u64 id)
{
	_cleanup_close_ int mount = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct file_handle) char room[sizeof(struct file_handle) + sizeof(id)];
	struct file_handle *handle = (struct file_handle *)room;
	int fd;

	if (mount < 0)
		return -errno;
	handle->handle_bytes = sizeof(id);
	handle->handle_type = HANDLE_KERNFS;
	memcpy(handle->f_handle, &id, sizeof(id));
	fd = open_by_handle_at(mount, handle, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int cgroup_path(__u64 id, char *ret_path, size_t size)
{
	const char *root = mount_point();
	char link[64], whole[PATH_MAX];
	_cleanup_close_ int fd = root ? open_by_id(root, id) : -ENOENT;
	ssize_t length;

	if (fd < 0)
		return fd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, whole, sizeof(whole) - 1);
	if (length < 0)
		return -errno;
	whole[length] = '\0';
	if (strncmp(whole, root, strlen(root)) != 0)
		return -ESTALE;
	/* The root's own path ends with it. */
	return snprintf(ret_path, size, "%s", whole[strlen(root)] ? whole + strlen(root) : "/") <
		       (int)size
		   ? 0
		   : -ENAMETOOLONG;
}
