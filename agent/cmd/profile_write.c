// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

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

/* A new file beside it, whose name is put into `beside`. Returns its descriptor or -errno. */
static int open_beside(const char *file, char beside[PATH_MAX])
{
	int fd;

	if (snprintf(beside, PATH_MAX, "%s.XXXXXX", file) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = mkostemp(beside, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
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
	fd = open_beside(file, beside);
	if (fd < 0)
		return refuse(file, fd);
	unlink(beside);
	close(fd);
	return COMMAND_OK;
}

static int fill(int fd, bool is_ours, int (*write)(const void *data, FILE *out), const void *data)
{
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	errno = 0;
	err = write(data, out);
	/* Of what could not be written the reason is the last error. */
	if (!err && (ferror(out) || fflush(out) || (is_ours && fchmod(fd, FILE_MODE))))
		err = errno ? -errno : -EIO;
	return fclose(out) && !err ? -errno : err;
}

static int write_beside(const char *file, int (*write)(const void *data, FILE *out),
			const void *data)
{
	char beside[PATH_MAX];
	int fd = open_beside(file, beside), err;

	if (fd < 0)
		return fd;
	err = fill(fd, true, write, data);
	if (!err && rename(beside, file))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}

int profile_write_file(const char *file, int (*write)(const void *data, FILE *out),
		       const void *data)
{
	int fd, err;

	if (is_special(file)) {
		fd = open(file, O_WRONLY | O_CLOEXEC);
		err = fd < 0 ? -errno : fill(fd, false, write, data);
	} else {
		err = write_beside(file, write, data);
	}
	return err ? refuse(file, err) : COMMAND_OK;
}
