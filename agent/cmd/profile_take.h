/* SPDX-License-Identifier: Apache-2.0 */
/* `ctxprop profile` itself: samples are taken, summed up and written. */
#ifndef CTXPROP_CMD_PROFILE_TAKE_H
#define CTXPROP_CMD_PROFILE_TAKE_H

#include "cmd/profile_options.h"

/* `tags`: that files are written by; NULL: none. Complains itself; returns an exit code. */
int profile_take(struct profile_wanted *wanted, const struct tags *tags, bool json);

#endif
