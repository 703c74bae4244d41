/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the files of a continuous profile. */
#ifndef CTXPROP_PROFILE_WINDOW_FILE_H
#define CTXPROP_PROFILE_WINDOW_FILE_H

#include <stdio.h>

#include "profile/windows.h"

/*
 * Make the folder if it is missing, and take it for this process alone: its descriptor, which holds
 * the lock. -EBUSY: another one has it; or -errno.
 */
int window_folder_take(const char *folder);

/*
 * Write the file of a window: `write` fills it in, and returns 0 or -errno. It gets its name when
 * it is whole, in place of one that was there. 0 or -errno: then there is nothing new.
 */
int window_file_write(const char *folder, const struct window *window,
		      int (*write)(FILE *out, void *data), void *data);

#endif
