/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a continuous profile: one for each window of time, in a folder beside the store. */
#ifndef CTXPROP_PROFILE_KEEP_WINDOWS_H
#define CTXPROP_PROFILE_KEEP_WINDOWS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#include "profile/message/message.h"

#define WINDOW_SECONDS  60
#define WINDOWS_SECONDS 3600         /* kept so long */
#define WINDOWS_BYTES   (64UL << 20) /* and never more in all */

#define WINDOW_NAME_MAX 64

/* A window of a continuous profile: a file "FROM-TO.pb.gz". */
struct window {
	__s64 from_s, to_s; /* since 1970 */
};

/* The folder of the windows that belong to a store: "profiles" beside it. 0 or -ENAMETOOLONG. */
int windows_folder(const char *store, char ret_folder[PATH_MAX]);

/* The name of a window's file, without its folder. */
void window_name(const struct window *window, char ret_name[WINDOW_NAME_MAX]);

/* Parse a name; only names in the form of window_name() are valid. 0 or -EINVAL. */
int window_parse(const char *name, struct window *ret_window);

/* A window whose file was opened. */
struct window_opened {
	struct window time;
	int fd; /* -errno: it could not be opened */
};

/* Windows of a time, to be read. */
struct windows_opened {
	struct window_opened *window; /* the newest first */
	size_t count;
	size_t left_out; /* the oldest ones, where there are too many of them */
	int err;         /* 0; -ENOENT: there is no folder; or -errno: it cannot be read */
};

/*
 * Open all windows of the folder that end later than `from_s` and begin before `to_s`. What goes
 * wrong is said by windows_read_opened(). To be closed by windows_close().
 */
void windows_open(const char *folder, __s64 from_s, __s64 to_s, struct windows_opened *ret);
void windows_close(struct windows_opened *opened);

/* What was read. */
struct windows_said {
	struct window time; /* from the first to the last */
	size_t count;
	size_t unreadable;
	size_t left_out; /* the oldest ones, where there is too much of them */
	bool has_folder;
	char unreadable_name[WINDOW_NAME_MAX]; /* one of those, and why */
	char unreadable_why[MESSAGE_WHY_MAX];
};

/*
 * Read windows that were opened, once, as one message, which message_free() frees: from their
 * descriptors, and without other system calls than sandbox_confine() leaves. Those that cannot be
 * read are left out, and counted; of what is more than memory is for, the newest ones are read.
 * Returns 0; -ENOENT: there are none; -EINVAL: there are some, of which none can be read; or
 * -errno. Then the reason is in `ret_why`, which has room for MESSAGE_WHY_MAX.
 */
int windows_read_opened(const struct windows_opened *opened, struct message *ret,
			struct windows_said *ret_said, char *ret_why);

/* Open, read and close the windows of a time, as the functions above do. */
int windows_read(const char *folder, __s64 from_s, __s64 to_s, struct message *ret,
		 struct windows_said *ret_said, char *ret_why);

/*
 * Remove windows that are too old at `now_s` or too many, and remains of files that were not
 * completed. 0 or -errno.
 */
int windows_tidy(const char *folder, __s64 now_s);

/*
 * Remove the oldest windows that ended before this one began until `bytes` are freed; remove none
 * if all of them have fewer. Returns how many were removed.
 */
size_t windows_make_room(const char *folder, const struct window *window, size_t bytes);

#endif
