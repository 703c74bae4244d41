/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are there as a whole or not at all: written beside the old one, then renamed. */
#ifndef CTXPROP_BESIDE_H
#define CTXPROP_BESIDE_H

#include <limits.h>
#include <stdio.h>
#include <sys/types.h>

/*
 * Writes the contents of a file. 0 or -errno; errors of the stream itself are checked by the
 * caller.
 */
typedef int (*beside_fill_fn)(const void *data, FILE *out);

/*
 * A new file beside `file`, for the owner alone; its name is put into `ret_name`. Its descriptor or
 * -errno.
 */
int beside_open(const char *file, char ret_name[PATH_MAX]);

/* Write the contents of an open file, and close it. 0, or -errno: it is incomplete. */
int beside_fill(int fd, beside_fill_fn fill, const void *data);

/*
 * Write `file` with these permissions, in place of one that was there. 0, or -errno: nothing has
 * changed.
 */
int beside_write(const char *file, mode_t mode, beside_fill_fn fill, const void *data);

#endif
