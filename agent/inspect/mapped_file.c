// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include <linux/openat2.h>

#include "base/cleanup.h"
#include "inspect/mapped_file.h"

#define NAME_MAX_SIZE 64

int mapped_file_process(__u32 tgid)
{
	char path[NAME_MAX_SIZE];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u", tgid);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Open what a descriptor (O_PATH) leads to, if it is of a kind that can be read without harm:
 * opening a FIFO waits for a writer, and opening a device may do whatever its driver likes.
 */
static int reopen(int path_fd)
{
	char path[NAME_MAX_SIZE];
	struct statfs system;
	struct stat file;
	int fd;

	if (fstat(path_fd, &file) || fstatfs(path_fd, &system))
		return -errno;
	if (!S_ISREG(file.st_mode) || system.f_type == FUSE_SUPER_MAGIC)
		return -EACCES;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", path_fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int mapped_file_open_program(int proc_fd)
{
	_cleanup_close_ int path_fd = openat(proc_fd, "exe", O_PATH | O_CLOEXEC);

	return path_fd < 0 ? -errno : reopen(path_fd);
}

/* By the kernel's own link, which leads to the file even if it was deleted. (CAP_SYS_ADMIN) */
static int find_by_link(int proc_fd, const struct mapping *mapping)
{
	char name[NAME_MAX_SIZE];

	snprintf(name, sizeof(name), "map_files/%llx-%llx", mapping->start, mapping->end);
	return openat(proc_fd, name, O_PATH | O_CLOEXEC);
}

/* By its path, as the process sees it. The kernel writes paths without symbolic links. */
static int find_by_path(int proc_fd, const char *path)
{
	_cleanup_close_ int root_fd = openat(proc_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
				     .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS |
						RESOLVE_NO_MAGICLINKS};

	if (root_fd < 0)
		return -1;
	return (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
}

int mapped_file_open(int proc_fd, const struct mapping *mapping)
{
	_cleanup_close_ int path_fd = find_by_link(proc_fd, mapping);
	_cleanup_close_ int fd = -1;
	struct mapping identity = {};
	int err;

	if (path_fd < 0)
		path_fd = find_by_path(proc_fd, mapping->path);
	if (path_fd < 0)
		return errno == ENOENT || errno == ELOOP ? -ESTALE : -errno;
	fd = reopen(path_fd);
	err = fd < 0 ? fd : mapped_file_identity(fd, &identity);
	if (err)
		return err;
	return mapped_file_is_same(&identity, mapping) ? take_fd(&fd) : -ESTALE;
}

static int find_address(const struct mapping *mapping, void *data)
{
	struct mapping *wanted = data;

	if (wanted->start < mapping->start || wanted->start >= mapping->end)
		return 0;
	wanted->major = mapping->major;
	wanted->minor = mapping->minor;
	wanted->inode = mapping->inode;
	return 1;
}

/* Map it here, untouched, and see how that looks: the kernel writes both lines the same way. */
int mapped_file_identity(int fd, struct mapping *ret_mapping)
{
	_cleanup_close_ int proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	void *here = mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);
	int err;

	if (here == MAP_FAILED)
		return -errno;
	*ret_mapping = (struct mapping){.start = (__u64)(unsigned long)here};
	err = mapping_each(proc_fd, find_address, ret_mapping);
	munmap(here, 1);
	return err < 0 ? err : err ? 0 : -ENOENT;
}
