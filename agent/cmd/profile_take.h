/* SPDX-License-Identifier: Apache-2.0 */
/* `ctxprop profile` itself: samples are taken, summed up and written. */
#ifndef CTXPROP_CMD_PROFILE_TAKE_H
#define CTXPROP_CMD_PROFILE_TAKE_H

#include "cmd/profile_options.h"

/* Complains itself; returns an exit code. */
int profile_take(const struct profile_wanted *wanted);

#endif
