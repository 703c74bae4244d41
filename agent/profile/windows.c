// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "profile/message_merge.h"
#include "profile/windows.h"
#include "profile/windows_list.h"

#define FOLDER "profiles"
#define ENDING ".pb.gz"

/* What is read at once takes at most this much memory, unless one window does. */
#define BYTES_MAX (256UL << 20)

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

/* Windows that are being read. */
struct reading {
	const char *folder;
	struct message_merger *merger;
	struct windows_said *said;
};

static void say_unreadable(struct windows_said *said, const char *name, int err, const char *why)
{
	if (said->unreadable++)
		return;
	text_copy(said->unreadable_name, sizeof(said->unreadable_name), name);
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

/* What is gone meanwhile was too old. 0 or -ENOMEM. */
static int read_window(struct reading *reading, const struct window *window)
{
	char why[MESSAGE_WHY_MAX], path[PATH_MAX], name[WINDOW_NAME_MAX];
	struct message message;
	int err;

	window_name(window, name);
	*why = '\0';
	if (snprintf(path, sizeof(path), "%s/%s", reading->folder, name) >= (int)sizeof(path))
		err = -ENAMETOOLONG;
	else
		err = message_read(path, &message, why);
	if (!err) {
		err = message_merger_add(reading->merger, &message);
		message_free(&message);
		if (err == -EOVERFLOW)
			text_copy(why, sizeof(why), "its values are too large");
	}
	if (!err)
		say_read(reading->said, window);
	else if (err != -ENOENT && err != -ENOMEM)
		say_unreadable(reading->said, name, err, why);
	return err == -ENOMEM ? err : 0;
}

static int read_list(struct reading *reading, const struct windows_list *list, __s64 from_s,
		     __s64 to_s)
{
	int err = 0;

	for (size_t i = 0; !err && i < list->count; i++) {
		const struct window *window = &list->file[i].time;

		if (window->to_s <= from_s || window->from_s >= to_s)
			continue;
		if (reading->said->count && message_merger_bytes(reading->merger) > BYTES_MAX)
			reading->said->left_out++;
		else
			err = read_window(reading, window);
	}
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
	snprintf(ret_why, MESSAGE_WHY_MAX, "no windows of this time are there");
	return -ENOENT;
}

static int read_folder(struct reading *reading, const struct windows_list *list, __s64 from_s,
		       __s64 to_s, struct message *ret, char *ret_why)
{
	int err = reading->merger ? read_list(reading, list, from_s, to_s) : -ENOMEM;

	return err ? err : finish(reading, ret, ret_why);
}

int windows_read(const char *folder, __s64 from_s, __s64 to_s, struct message *ret,
		 struct windows_said *ret_said, char *ret_why)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct reading reading = {.folder = folder, .said = ret_said};
	struct windows_list list = {};
	int err = fd < 0 ? -errno : windows_list(fd, &list);

	*ret_said = (struct windows_said){};
	*ret_why = '\0';
	if (!err) {
		reading.merger = message_merger_new();
		err = read_folder(&reading, &list, from_s, to_s, ret, ret_why);
		message_merger_free(reading.merger);
	}
	if (err && !*ret_why)
		text_copy(ret_why, MESSAGE_WHY_MAX,
			  err == -ENOENT ? "ctxpropd runs without --profile: no windows are kept"
					 : strerror(-err));
	windows_list_free(&list);
	return err;
}
