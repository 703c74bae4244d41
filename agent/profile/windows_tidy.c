// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "profile/windows_list.h"

#define UNFINISHED_SECONDS 600 /* nobody writes so long */

static bool is_of_another_time(const struct window *window, __s64 now_s)
{
	return window->to_s < now_s - WINDOWS_SECONDS || window->from_s > now_s + WINDOWS_SECONDS;
}

static int remove_name(int folder_fd, const char *name)
{
	return unlinkat(folder_fd, name, 0) && errno != ENOENT ? -errno : 0;
}

/* From the newest on: what is left when there is room for no more goes. */
static int tidy_windows(int folder_fd, __s64 now_s)
{
	char name[WINDOW_NAME_MAX];
	struct windows_list list;
	int err = windows_list(folder_fd, &list), failed;
	__u64 bytes = 0;

	for (size_t i = 0; i < list.count; i++) {
		const struct window_file *file = &list.file[i];

		if (!is_of_another_time(&file->time, now_s) &&
		    (bytes += file->bytes) <= WINDOWS_BYTES)
			continue;
		window_name(&file->time, name);
		failed = remove_name(folder_fd, name);
		err = err ? err : failed;
	}
	windows_list_free(&list);
	return err;
}

/* The name of a window with an ending of its own: what is written before it takes its name. */
static bool is_unfinished(const char *name)
{
	char whole[WINDOW_NAME_MAX];
	const char *ending = strrchr(name, '.');
	struct window window;

	if (!ending || (size_t)(ending - name) >= sizeof(whole))
		return false;
	text_copy(whole, (size_t)(ending - name) + 1, name);
	return !window_parse(whole, &window);
}

static int tidy_unfinished(int folder_fd, __s64 now_s)
{
	_cleanup_closedir_ DIR *folder = windows_stream(folder_fd);
	const struct dirent *entry;
	struct stat status;
	int err = folder ? 0 : -errno, failed;

	while (folder && (entry = readdir(folder))) {
		if (!is_unfinished(entry->d_name) ||
		    fstatat(folder_fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
		    status.st_mtime > now_s - UNFINISHED_SECONDS)
			continue;
		failed = remove_name(folder_fd, entry->d_name);
		err = err ? err : failed;
	}
	return err;
}

int windows_tidy(const char *folder, __s64 now_s)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err, failed;

	if (fd < 0)
		return -errno;
	err = tidy_windows(fd, now_s);
	failed = tidy_unfinished(fd, now_s);
	return err ? err : failed;
}

/* What is free, and what those before the window have. */
static __u64 room_of(int folder_fd, const struct windows_list *list, const struct window *window)
{
	struct statvfs status;
	__u64 bytes = 0;

	if (!fstatvfs(folder_fd, &status))
		bytes = (__u64)status.f_bavail * status.f_frsize;
	for (size_t i = 0; i < list->count; i++)
		if (list->file[i].time.to_s <= window->from_s)
			bytes += list->file[i].bytes;
	return bytes;
}

/* From the oldest on. */
static size_t remove_oldest(int folder_fd, const struct windows_list *list,
			    const struct window *window, size_t bytes)
{
	char name[WINDOW_NAME_MAX];
	size_t removed = 0;
	__u64 gone = 0;

	for (size_t i = list->count; i-- && gone < bytes;) {
		const struct window_file *file = &list->file[i];

		if (file->time.to_s > window->from_s)
			break;
		window_name(&file->time, name);
		if (unlinkat(folder_fd, name, 0))
			continue;
		gone += file->bytes;
		removed++;
	}
	return removed;
}

size_t windows_make_room(const char *folder, const struct window *window, size_t bytes)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct windows_list list = {};
	size_t removed = 0;

	if (fd >= 0 && !windows_list(fd, &list) && room_of(fd, &list, window) >= bytes)
		removed = remove_oldest(fd, &list, window, bytes);
	windows_list_free(&list);
	return removed;
}
