/* SPDX-License-Identifier: Apache-2.0 */
/* A profile that was read, summed up. */
#ifndef CTXPROP_CMD_PROFILE_SHOW_H
#define CTXPROP_CMD_PROFILE_SHOW_H

#include "cmd/profile_read.h"
#include "profile/windows.h"

/*
 * By endpoint, with the requests of each if the profile says them; of other profiles by what their
 * stacks begin with. `said`: the windows that it is of; NULL: a file. Returns an exit code.
 */
int profile_show(const struct profile_reading *reading, const struct message *message,
		 const struct windows_said *said);

#endif
