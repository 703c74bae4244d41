// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "profile/window_file.h"

#define FOLDER_MODE 0700 /* as the store's */
#define FILE_MODE   0600

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

int window_file_write(const char *folder, const struct window *window, beside_fill_fn fill,
		      const void *data)
{
	char name[WINDOW_NAME_MAX], path[PATH_MAX];

	window_name(window, name);
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return beside_write(path, FILE_MODE, fill, data);
}
