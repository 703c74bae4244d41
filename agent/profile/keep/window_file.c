// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "profile/keep/window_file.h"

#define FOLDER_MODE 0700 /* as the store's */
#define FILE_MODE   0600
#define ROOM_ROUNDS 3 /* files take more room than they have bytes, and others may want it, too */

/*
 * Does the path still lead to the folder that was taken? Another file system may have been mounted
 * there.
 */
static bool is_taken(const struct window_folder *folder)
{
	struct stat taken, there;

	return folder->fd >= 0 && !fstat(folder->fd, &taken) && !stat(folder->path, &there) &&
	       taken.st_dev == there.st_dev && taken.st_ino == there.st_ino;
}

int window_folder_take(struct window_folder *folder)
{
	_cleanup_close_ int fd = -1;

	if (is_taken(folder))
		return 0;
	if (mkdir(folder->path, FOLDER_MODE) && errno != EEXIST)
		return -errno;
	fd = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	cleanup_close(&folder->fd);
	folder->fd = take_fd(&fd);
	return 0;
}

void window_folder_close(struct window_folder *folder)
{
	cleanup_close(&folder->fd);
	folder->fd = -1;
}

/* A whole file, in memory: how much room it takes is known before it is written. */
struct contents {
	char *bytes;
	size_t size;
};

static int gather(beside_fill_fn fill, const void *data, struct contents *ret)
{
	FILE *stream = open_memstream(&ret->bytes, &ret->size);
	int err = stream ? fill(data, stream) : -ENOMEM;

	if (stream && fclose(stream) && !err)
		err = -ENOMEM;
	return err;
}

static int write_contents(const void *data, FILE *out)
{
	const struct contents *contents = data;

	return fwrite(contents->bytes, 1, contents->size, out) == contents->size ? 0 : -EIO;
}

static bool is_full(int err)
{
	return err == -ENOSPC || err == -EDQUOT;
}

static int write_with_room(const struct window_folder *folder, const struct window *window,
			   const struct contents *contents, size_t *removed)
{
	char name[WINDOW_NAME_MAX], path[PATH_MAX];
	size_t gone;
	int err;

	window_name(window, name);
	if (snprintf(path, sizeof(path), "%s/%s", folder->path, name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	err = beside_write(path, FILE_MODE, write_contents, contents);
	for (int round = 0; is_full(err) && round < ROOM_ROUNDS; round++) {
		gone = windows_make_room(folder->path, window, contents->size);
		if (!gone)
			break;
		*removed += gone;
		err = beside_write(path, FILE_MODE, write_contents, contents);
	}
	return err;
}

int window_file_write(const struct window_folder *folder, const struct window *window,
		      beside_fill_fn fill, const void *data, size_t *ret_removed)
{
	struct contents contents = {};
	int err = gather(fill, data, &contents);

	*ret_removed = 0;
	if (!err)
		err = write_with_room(folder, window, &contents, ret_removed);
	free(contents.bytes);
	return err;
}
