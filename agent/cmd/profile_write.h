/* SPDX-License-Identifier: Apache-2.0 */
/* Files of profiles: whole, or not at all. */
#ifndef CTXPROP_CMD_PROFILE_WRITE_H
#define CTXPROP_CMD_PROFILE_WRITE_H

#include <stdio.h>

/*
 * Could a file be written, as far as that can be told before there is anything to write? Complains
 * itself; returns an exit code.
 */
int profile_check_writable(const char *file);

/*
 * Write a file by `write`, which returns 0 or -errno: beside it, then under its name, so that there
 * is never half a file. What is no regular file (a pipe, a terminal) is written to as it is.
 * Complains itself; returns an exit code.
 */
int profile_write_file(const char *file, int (*write)(const void *data, FILE *out),
		       const void *data);

#endif
