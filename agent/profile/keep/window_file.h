/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the files of a continuous profile. */
#ifndef CTXPROP_PROFILE_KEEP_WINDOW_FILE_H
#define CTXPROP_PROFILE_KEEP_WINDOW_FILE_H

#include <stddef.h>

#include "base/beside.h"
#include "profile/keep/windows.h"

/* The folder that the windows of one process are in. */
struct window_folder {
	char path[PATH_MAX];
	int fd; /* holds the lock; -1: it was not taken */
};

/*
 * Make the folder if it is missing, and take it for this process alone, which window_folder_close()
 * ends. If it was taken before, but is another one by now, that one is taken instead. 0; -EBUSY:
 * another process has it; or -errno, and nothing has changed.
 */
int window_folder_take(struct window_folder *folder);
void window_folder_close(struct window_folder *folder);

/*
 * Write the file of a window, as beside_write() does. If there is no room for it, the oldest
 * windows are removed, if that makes enough; `ret_removed`: how many, also if it fails.
 */
int window_file_write(const struct window_folder *folder, const struct window *window,
		      beside_fill_fn fill, const void *data, size_t *ret_removed);

#endif
