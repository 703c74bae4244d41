/* SPDX-License-Identifier: Apache-2.0 */
/* What `ctxprop profile` reads: files, and windows of a continuous profile. */
#ifndef CTXPROP_CMD_PROFILE_SOURCE_H
#define CTXPROP_CMD_PROFILE_SOURCE_H

#include "cmd/profile_read.h"
#include "profile/windows.h"

/*
 * Read a file, and apply the filter and the rules. The caller frees the message. Complains itself;
 * returns an exit code.
 */
int profile_read_file(const struct profile_reading *reading, const char *file, struct message *ret);

/* The same of the windows of reading->last_ns until now, beside the store. Says which. */
int profile_read_last(const struct profile_reading *reading, struct message *ret,
		      struct windows_said *ret_said);

/* And of those of reading->before_ns until a time (s since 1970). */
int profile_read_before(const struct profile_reading *reading, __s64 to_s, struct message *ret,
			struct windows_said *ret_said);

#endif
