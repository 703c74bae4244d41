/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoints of a profile that was read, as those of one that is taken. */
#ifndef CTXPROP_CMD_PROFILE_ENDPOINTS_H
#define CTXPROP_CMD_PROFILE_ENDPOINTS_H

#include "cmd/profile_read.h"
#include "profile/flame.h"
#include "profile/windows.h"

/*
 * In a table or as JSON. `root`: its flame graph with endpoints; `said`: the windows that it is of,
 * whose store knows how long requests took; NULL: a file. Complains itself; returns an exit code.
 */
int profile_show_endpoints(const struct profile_reading *reading, const struct message *message,
			   const struct flame *root, const struct windows_said *said);

#endif
