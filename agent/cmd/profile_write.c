// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "base/beside.h"
#include "cmd/command.h"
#include "cmd/profile_write.h"

#define FILE_MODE 0644

static int refuse(const char *file, int err)
{
	return command_refuse("--output %s: %s", file, strerror(-err));
}

static bool is_special(const char *file)
{
	struct stat status;

	return !stat(file, &status) && !S_ISREG(status.st_mode);
}

int profile_check_writable(const char *file)
{
	char beside[PATH_MAX];
	struct stat status;
	int fd;

	if (!stat(file, &status) && S_ISDIR(status.st_mode))
		return refuse(file, -EISDIR);
	if (is_special(file))
		return access(file, W_OK) ? refuse(file, -errno) : COMMAND_OK;
	fd = beside_open(file, beside);
	if (fd < 0)
		return refuse(file, fd);
	unlink(beside);
	close(fd);
	return COMMAND_OK;
}

int profile_write_file(const char *file, int (*write)(const void *data, FILE *out),
		       const void *data)
{
	int fd, err;

	if (is_special(file)) {
		fd = open(file, O_WRONLY | O_CLOEXEC);
		err = fd < 0 ? -errno : beside_fill(fd, write, data);
	} else {
		err = beside_write(file, FILE_MODE, write, data);
	}
	return err ? refuse(file, err) : COMMAND_OK;
}
