/* SPDX-License-Identifier: Apache-2.0 */
/* The windows that are in a folder. */
#ifndef CTXPROP_PROFILE_WINDOWS_LIST_H
#define CTXPROP_PROFILE_WINDOWS_LIST_H

#include <dirent.h>

#include "profile/windows.h"

struct window_file {
	struct window time;
	__u64 bytes;
};

/* All zero is an empty list. */
struct windows_list {
	struct window_file *file; /* the newest first */
	size_t count, room;
};

/* The regular files with names of windows. 0 or -errno; to be freed in either case. */
int windows_list(int folder_fd, struct windows_list *ret);
void windows_list_free(struct windows_list *list);

/*
 * A folder's descriptor, which is read anew from its beginning, as fdopendir(3) takes it. The
 * caller closes the stream. NULL: see errno.
 */
DIR *windows_stream(int folder_fd);

#endif
