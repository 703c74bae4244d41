// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "profile/window_file.h"

#define FOLDER_MODE 0700 /* as the store's */

int window_folder_take(const char *folder)
{
	_cleanup_close_ int fd = -1;

	if (mkdir(folder, FOLDER_MODE) && errno != EEXIST)
		return -errno;
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	return take_fd(&fd);
}

/* Takes over the descriptor. */
static int fill(int fd, int (*write)(FILE *out, void *data), void *data)
{
	FILE *out = fdopen(fd, "w");
	int err;

	if (!out) {
		err = -errno;
		close(fd);
		return err;
	}
	errno = 0;
	err = write(out, data);
	/* Of what could not be written the reason is the last error. */
	if ((!err && fflush(out)) || err == -EIO)
		err = errno ? -errno : -EIO;
	return fclose(out) && !err ? -errno : err;
}

int window_file_write(const char *folder, const struct window *window,
		      int (*write)(FILE *out, void *data), void *data)
{
	char name[WINDOW_NAME_MAX], path[PATH_MAX], beside[PATH_MAX];
	int fd, err;

	window_name(window, name);
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) ||
	    snprintf(beside, sizeof(beside), "%s.XXXXXX", path) >= (int)sizeof(beside))
		return -ENAMETOOLONG;
	fd = mkostemp(beside, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = fill(fd, write, data);
	if (!err && rename(beside, path))
		err = -errno;
	if (err)
		unlink(beside);
	return err;
}
