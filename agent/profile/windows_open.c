// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "profile/windows_list.h"

/*
 * An hour has 720 windows at most, of five seconds each, and some more where the daemon was started
 * again; a process may usually open 1024 files.
 */
#define OPENED_MAX 900

/* A descriptor, or -errno. What was put in the file's place since it was listed is no window. */
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
static void add(struct windows_opened *opened, int folder_fd, const struct window *window)
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
			add(opened, folder_fd, window);
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
