// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beside.h"

int beside_open(const char *file, char ret_name[PATH_MAX])
{
	int fd;

	if (snprintf(ret_name, PATH_MAX, "%s.XXXXXX", file) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = mkostemp(ret_name, O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int beside_fill(int fd, beside_fill_fn fill, const void *data)
{
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	errno = 0;
	err = fill(data, out);
	/* If it could not be written, errno has the reason. */
	if ((!err && (ferror(out) || fflush(out))) || err == -EIO)
		err = errno ? -errno : -EIO;
	return fclose(out) && !err ? -errno : err;
}

int beside_write(const char *file, mode_t mode, beside_fill_fn fill, const void *data)
{
	char name[PATH_MAX];
	int fd = beside_open(file, name), err;

	if (fd < 0)
		return fd;
	if (fchmod(fd, mode)) {
		err = -errno;
		close(fd);
	} else {
		err = beside_fill(fd, fill, data);
	}
	if (!err && rename(name, file))
		err = -errno;
	if (err)
		unlink(name);
	return err;
}
