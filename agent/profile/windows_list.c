// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "profile/windows_list.h"

static int add(struct windows_list *list, const struct window_file *file)
{
	struct window_file *more =
	    list_make_room(list->file, list->count, &list->room, sizeof(*more));

	if (!more)
		return -ENOMEM;
	list->file = more;
	more[list->count++] = *file;
	return 0;
}

static int take_name(struct windows_list *list, int folder_fd, const char *name)
{
	struct window_file file;
	struct stat status;

	if (window_parse(name, &file.time) ||
	    fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
		return 0;
	file.bytes = (__u64)status.st_size;
	return add(list, &file);
}

static int compare(const void *a, const void *b)
{
	const struct window *first = &((const struct window_file *)a)->time;
	const struct window *second = &((const struct window_file *)b)->time;

	if (first->to_s != second->to_s)
		return first->to_s < second->to_s ? 1 : -1;
	return (first->from_s < second->from_s) - (first->from_s > second->from_s);
}

int windows_list(int folder_fd, struct windows_list *ret)
{
	_cleanup_closedir_ DIR *folder = windows_stream(folder_fd);
	const struct dirent *entry;
	int err = folder ? 0 : -errno;

	*ret = (struct windows_list){};
	while (!err && (entry = readdir(folder)))
		err = take_name(ret, folder_fd, entry->d_name);
	if (!err && ret->count)
		qsort(ret->file, ret->count, sizeof(*ret->file), compare);
	return err;
}

void windows_list_free(struct windows_list *list)
{
	free(list->file);
	*list = (struct windows_list){};
}

DIR *windows_stream(int folder_fd)
{
	_cleanup_close_ int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (folder)
		take_fd(&fd);
	return folder;
}
