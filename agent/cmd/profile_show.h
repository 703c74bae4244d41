/* SPDX-License-Identifier: Apache-2.0 */
/* A profile, summed up: that is taken, or was read. */
#ifndef CTXPROP_CMD_PROFILE_SHOW_H
#define CTXPROP_CMD_PROFILE_SHOW_H

#include <jansson.h>

#include "cmd/profile_options.h"
#include "profile/keep/windows.h"
#include "profile/take/requests.h"

/* What is known of it beside the message; all zero: it is of a file. */
struct profile_told {
	const struct windows_said
	    *windows; /* that it is of; their store knows how long requests took */
	const struct requests *requests; /* of one that is taken now */
	json_t *more;                    /* for the JSON */
};

/*
 * By endpoint, with the requests of each if the profile says them; of other profiles by what their
 * stacks begin with. In a table or as JSON. Complains itself; returns an exit code.
 */
int profile_show(const struct profile_wanted *wanted, const struct message *message,
		 const struct profile_told *told);

#endif
