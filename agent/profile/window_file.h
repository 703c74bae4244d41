/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the files of a continuous profile. */
#ifndef CTXPROP_PROFILE_WINDOW_FILE_H
#define CTXPROP_PROFILE_WINDOW_FILE_H

#include "base/beside.h"
#include "profile/windows.h"

/*
 * Make the folder if it is missing, and take it for this process alone: its descriptor, which holds
 * the lock. -EBUSY: another one has it; or -errno.
 */
int window_folder_take(const char *folder);

/* Write the file of a window, as beside_write() does. */
int window_file_write(const char *folder, const struct window *window, beside_fill_fn fill,
		      const void *data);

#endif
