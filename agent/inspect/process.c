// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "inspect/process.h"

const char *process_exe(char buffer[PROCESS_PATH_MAX], __u32 tgid)
{
	snprintf(buffer, PROCESS_PATH_MAX, "/proc/%u/exe", tgid);
	return buffer;
}

bool process_program(__u32 tgid, struct process_program *ret_program)
{
	char path[PROCESS_PATH_MAX];
	struct statx file;

	if (statx(AT_FDCWD, process_exe(path, tgid), AT_STATX_DONT_SYNC, STATX_INO | STATX_SIZE,
		  &file))
		return false;
	*ret_program = (struct process_program){
	    .device = makedev(file.stx_dev_major, file.stx_dev_minor),
	    .inode = file.stx_ino,
	    .size = file.stx_size,
	};
	return true;
}

bool process_runs(__u32 tgid, const struct stat *file)
{
	struct process_program now;

	return process_program(tgid, &now) && now.device == file->st_dev &&
	       now.inode == file->st_ino;
}

const char *process_name(char *buffer, size_t size, __u32 tgid)
{
	char path[PROCESS_PATH_MAX];
	ssize_t n = readlink(process_exe(path, tgid), buffer, size - 1);

	buffer[n < 0 ? 0 : n] = '\0';
	return buffer;
}
