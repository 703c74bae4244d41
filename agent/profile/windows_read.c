// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "profile/message_merge.h"
#include "profile/windows.h"

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
