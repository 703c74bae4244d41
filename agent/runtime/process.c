// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "runtime/process.h"

const char *process_exe(char buffer[PROCESS_PATH_MAX], __u32 tgid)
{
	snprintf(buffer, PROCESS_PATH_MAX, "/proc/%u/exe", tgid);
	return buffer;
}

/* The kernel tells every program where its entry is, beside other things. */
int process_load_bias(__u32 tgid, __u64 entry, __u64 *ret_bias)
{
	_cleanup_close_ int fd = -1;
	char path[PROCESS_PATH_MAX];
	Elf64_auxv_t told[64];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%u/auxv", tgid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read(fd, told, sizeof(told));
	for (size_t i = 0; n > 0 && (i + 1) * sizeof(told[0]) <= (size_t)n; i++) {
		if (told[i].a_type != AT_ENTRY)
			continue;
		*ret_bias = told[i].a_un.a_val - entry;
		return 0;
	}
	return n < 0 ? -errno : -ENOENT;
}

bool process_runs(__u32 tgid, const struct stat *file)
{
	char path[PROCESS_PATH_MAX];
	struct stat now;

	return !stat(process_exe(path, tgid), &now) && now.st_dev == file->st_dev &&
	       now.st_ino == file->st_ino;
}

const char *process_name(char *buffer, size_t size, __u32 tgid)
{
	char path[PROCESS_PATH_MAX];
	ssize_t n = readlink(process_exe(path, tgid), buffer, size - 1);

	buffer[n < 0 ? 0 : n] = '\0';
	return buffer;
}
