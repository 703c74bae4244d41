/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A policy as a file: what `policy save` prints, `policy restore` and the daemon read. One line is
 * what one would say to ctxprop; "#" begins a comment, "\" at the end of a line goes on with the
 * next.
 *
 *   set cluster add 10.0.0.0/8 fd00::/8
 *   policy add prio 100 dir out to !cluster port 80 action inject sample 0.1
 */
#ifndef CTXPROP_POLICY_FILE_H
#define CTXPROP_POLICY_FILE_H

#include <stdio.h>

#include "control/policy_types.h"

#define POLICY_FILE_SIZE_MAX (1024UL * 1024)

/*
 * Read a policy. `name` stands in errors: "NAME:LINE:COLUMN: 'WORD': what was wrong". Words are
 * quoted only if the text begins like a policy: an error must not reveal the contents of another
 * file. 0 and a policy for the caller to clear, or -errno and an empty one.
 */
int policy_read(const char *text, size_t size, const char *name, struct policy *ret,
		struct policy_error *error);

/*
 * The text of a policy's file, for the caller to free, with a NUL behind it, and its size. It must
 * be a regular file that is not too large. 0, -ENOENT when there is none, or -errno.
 */
int policy_load(const char *path, char **ret_text, size_t *ret_size, struct policy_error *error);

/* Read a policy from a path, which may be a pipe. -ENOENT when there is nothing. */
int policy_read_file(const char *path, struct policy *ret, struct policy_error *error);

/* The same from an open stream. */
int policy_read_stream(FILE *stream, const char *name, struct policy *ret,
		       struct policy_error *error);

/* Write the sets and the user's rules. */
void policy_write(FILE *stream, const struct policy *policy);

#endif
