/* SPDX-License-Identifier: Apache-2.0 */
/* Archives that tar reads (POSIX ustar). */
#ifndef CTXPROP_TAR_H
#define CTXPROP_TAR_H

#include <stddef.h>
#include <stdio.h>
#include <time.h>

#define TAR_NAME_MAX 99 /* bytes of a name */

/*
 * Append a regular file that only its owner, root, may read and write. 0, -ENAMETOOLONG or -EFBIG;
 * errors of the stream are checked by the caller.
 */
int tar_add(FILE *out, const char *name, const void *bytes, size_t size, time_t changed);

/* Nothing follows. */
void tar_end(FILE *out);

#endif
