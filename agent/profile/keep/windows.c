// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "base/cleanup.h"
#include "base/list.h"
#include "base/text.h"
#include "profile/keep/windows.h"
#include "profile/message/merge.h"

struct window_file {
	struct window time;
	__u64 bytes;
};

/* All zero is an empty list. */
struct windows_list {
	struct window_file *file; /* the newest first */
	size_t count;
};

#define FOLDER "profiles"
#define ENDING ".pb.gz"

int windows_folder(const char *store, char ret_folder[PATH_MAX])
{
	const char *slash = strrchr(store, '/');
	const int length = slash ? (int)(slash + 1 - store) : 0;

	if (slash && slash - store >= PATH_MAX)
		return -ENAMETOOLONG;
	return snprintf(ret_folder, PATH_MAX, "%.*s" FOLDER, length, store) < PATH_MAX
		   ? 0
		   : -ENAMETOOLONG;
}

void window_name(const struct window *window, char ret_name[WINDOW_NAME_MAX])
{
	snprintf(ret_name, WINDOW_NAME_MAX, "%lld-%lld" ENDING, window->from_s, window->to_s);
}

int window_parse(const char *name, struct window *ret_window)
{
	char again[WINDOW_NAME_MAX], *end;
	struct window window;

	errno = 0;
	window.from_s = strtoll(name, &end, 10);
	if (errno || *end != '-')
		return -EINVAL;
	window.to_s = strtoll(end + 1, NULL, 10);
	if (errno || window.from_s < 0 || window.to_s < window.from_s)
		return -EINVAL;
	window_name(&window, again);
	if (strcmp(name, again) != 0)
		return -EINVAL;
	*ret_window = window;
	return 0;
}

static int add(struct windows_list *list, const struct window_file *file)
{
	struct window_file *more = list_add(&list->file, &list->count, sizeof(*more));

	if (!more)
		return -ENOMEM;
	*more = *file;
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

/*
 * A folder's descriptor, which is read anew from its beginning, as fdopendir(3) takes it. The
 * caller closes the stream. NULL: see errno.
 */
static DIR *windows_stream(int folder_fd)
{
	_cleanup_close_ int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);

	if (folder)
		take_fd(&fd);
	return folder;
}

/* The regular files with names of windows. 0 or -errno; to be freed in either case. */
static int windows_list(int folder_fd, struct windows_list *ret)
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

static void windows_list_free(struct windows_list *list)
{
	free(list->file);
	*list = (struct windows_list){};
}

/*
 * An hour has 720 windows at most, of five seconds each, and some more where the daemon was started
 * again; a process may usually open 1024 files.
 */
#define OPENED_MAX 900

/*
 * A descriptor, or -errno. The file may have been replaced by something else since it was listed.
 */
static int open_window(int folder_fd, const struct window *window)
{
	_cleanup_close_ int fd = -1;
	char name[WINDOW_NAME_MAX];
	struct stat status;

	window_name(window, name);
	fd = openat(folder_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status))
		return -errno;
	return S_ISREG(status.st_mode) ? take_fd(&fd) : -ENOENT;
}

/* What is gone meanwhile was too old. */
static void add_opened(struct windows_opened *opened, int folder_fd, const struct window *window)
{
	const int fd = opened->count < OPENED_MAX ? open_window(folder_fd, window) : -EMFILE;

	if (fd == -EMFILE || fd == -ENFILE)
		opened->left_out++;
	else if (fd != -ENOENT)
		opened->window[opened->count++] = (struct window_opened){*window, fd};
}

static int open_listed(struct windows_opened *opened, int folder_fd,
		       const struct windows_list *list, __s64 from_s, __s64 to_s)
{
	const size_t room = list->count < OPENED_MAX ? list->count : OPENED_MAX;

	opened->window = calloc(room + 1, sizeof(*opened->window));
	if (!opened->window)
		return -ENOMEM;
	for (size_t i = 0; i < list->count; i++) {
		const struct window *window = &list->file[i].time;

		if (window->to_s > from_s && window->from_s < to_s)
			add_opened(opened, folder_fd, window);
	}
	return opened->left_out && !opened->count ? -EMFILE : 0;
}

void windows_open(const char *folder, __s64 from_s, __s64 to_s, struct windows_opened *ret)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;
	struct windows_list list = {};

	*ret = (struct windows_opened){};
	if (!err)
		err = windows_list(fd, &list);
	if (!err)
		err = open_listed(ret, fd, &list, from_s, to_s);
	ret->err = err;
	windows_list_free(&list);
}

void windows_close(struct windows_opened *opened)
{
	for (size_t i = 0; i < opened->count; i++)
		cleanup_close(&opened->window[i].fd);
	free(opened->window);
	*opened = (struct windows_opened){};
}

/* What is read at once takes at most this much memory, unless one window does. */
#define BYTES_MAX (256UL << 20)

/* Windows that are being read. */
struct reading {
	struct message_merger *merger;
	struct windows_said *said;
};

static void say_unreadable(struct windows_said *said, const struct window *window, int err,
			   const char *why)
{
	if (said->unreadable++)
		return;
	window_name(window, said->unreadable_name);
	text_copy(said->unreadable_why, sizeof(said->unreadable_why), *why ? why : strerror(-err));
}

static void say_read(struct windows_said *said, const struct window *window)
{
	if (!said->count || window->from_s < said->time.from_s)
		said->time.from_s = window->from_s;
	if (!said->count || window->to_s > said->time.to_s)
		said->time.to_s = window->to_s;
	said->count++;
}

/* 0 or -errno, with a reason if there is more to say than that. */
static int add_window(struct reading *reading, int fd, char *ret_why)
{
	struct message message;
	int err;

	*ret_why = '\0';
	err = fd < 0 ? fd : message_read_fd(fd, &message, ret_why);
	if (err)
		return err;
	err = message_merger_add(reading->merger, &message);
	message_free(&message);
	if (err == -EOVERFLOW)
		text_copy(ret_why, MESSAGE_WHY_MAX, "its values are too large");
	return err;
}

/* 0 or -ENOMEM. */
static int read_window(struct reading *reading, const struct window_opened *window)
{
	char why[MESSAGE_WHY_MAX];
	int err = add_window(reading, window->fd, why);

	if (!err)
		say_read(reading->said, &window->time);
	else if (err != -ENOMEM)
		say_unreadable(reading->said, &window->time, err, why);
	return err == -ENOMEM ? err : 0;
}

static int read_all(struct reading *reading, const struct windows_opened *opened)
{
	int err = 0;

	for (size_t i = 0; !err && i < opened->count; i++)
		if (reading->said->count && message_merger_bytes(reading->merger) > BYTES_MAX)
			reading->said->left_out++;
		else
			err = read_window(reading, &opened->window[i]);
	return err;
}

/* What has become of them. Returns 0 or -errno. */
static int finish(const struct reading *reading, struct message *ret, char *ret_why)
{
	const struct windows_said *said = reading->said;

	if (said->count)
		return message_merger_end(reading->merger, ret);
	if (said->unreadable) {
		snprintf(ret_why, MESSAGE_WHY_MAX, "%s: %.100s", said->unreadable_name,
			 said->unreadable_why);
		return -EINVAL;
	}
	snprintf(ret_why, MESSAGE_WHY_MAX,
		 "no windows of this time are there: one is written each minute");
	return -ENOENT;
}

static int read_and_finish(const struct windows_opened *opened, struct message *ret,
			   struct windows_said *said, char *ret_why)
{
	struct reading reading = {.merger = message_merger_new(), .said = said};
	int err = reading.merger ? read_all(&reading, opened) : -ENOMEM;

	if (!err)
		err = finish(&reading, ret, ret_why);
	message_merger_free(reading.merger);
	return err;
}

int windows_read_opened(const struct windows_opened *opened, struct message *ret,
			struct windows_said *ret_said, char *ret_why)
{
	int err = opened->err;

	*ret_said = (struct windows_said){.left_out = opened->left_out,
					  .has_folder = opened->err != -ENOENT};
	*ret_why = '\0';
	if (!err)
		err = read_and_finish(opened, ret, ret_said, ret_why);
	if (err && !*ret_why)
		text_copy(ret_why, MESSAGE_WHY_MAX,
			  err == -ENOENT ? "ctxpropd runs without --profile: no windows are kept"
					 : strerror(-err));
	return err;
}

int windows_read(const char *folder, __s64 from_s, __s64 to_s, struct message *ret,
		 struct windows_said *ret_said, char *ret_why)
{
	struct windows_opened opened;
	int err;

	windows_open(folder, from_s, to_s, &opened);
	err = windows_read_opened(&opened, ret, ret_said, ret_why);
	windows_close(&opened);
	return err;
}

#define UNFINISHED_SECONDS 600 /* nobody writes so long */

static bool is_of_another_time(const struct window *window, __s64 now_s)
{
	return window->to_s < now_s - WINDOWS_SECONDS || window->from_s > now_s + WINDOWS_SECONDS;
}

static int remove_name(int folder_fd, const char *name)
{
	return unlinkat(folder_fd, name, 0) && errno != ENOENT ? -errno : 0;
}

/* Keep the newest ones as long as there is room, and remove the rest. */
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
