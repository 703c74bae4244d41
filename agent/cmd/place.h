/* SPDX-License-Identifier: Apache-2.0 */
/* Words that name a device or a network namespace, and orders about it. */
#ifndef CTXPROP_CMD_PLACE_H
#define CTXPROP_CMD_PLACE_H

#include "cmd/command.h"
#include "control/protocol.h"

/* Tell the daemon to do this (CONTROL_ATTACH, CONTROL_DETACH) where the words say. Exit code. */
int place_order(enum control_type type, const struct command_flags *flags);

#endif
