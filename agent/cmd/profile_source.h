/* SPDX-License-Identifier: Apache-2.0 */
/* What `ctxprop profile` reads: files, and windows of a continuous profile. */
#ifndef CTXPROP_CMD_PROFILE_SOURCE_H
#define CTXPROP_CMD_PROFILE_SOURCE_H

#include "cmd/profile_options.h"
#include "profile/keep/windows.h"

/*
 * Leave of a message what is wanted, and apply the rules. `name`: what it is, for a complaint.
 * Returns an exit code.
 */
int profile_choose(const struct profile_wanted *wanted, const char *name, struct message *message);

/*
 * Read a file, and apply the filter and the rules. The caller frees the message. Complains itself;
 * returns an exit code.
 */
int profile_read_file(const struct profile_wanted *wanted, const char *file, struct message *ret);

/* The same of the windows of wanted->last_ns until now, beside the store. Says which. */
int profile_read_last(const struct profile_wanted *wanted, struct message *ret,
		      struct windows_said *ret_said);

/* And of those of wanted->before_ns until a time (s since 1970). */
int profile_read_before(const struct profile_wanted *wanted, __s64 to_s, struct message *ret,
			struct windows_said *ret_said);

#endif
