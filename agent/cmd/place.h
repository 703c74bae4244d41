/* SPDX-License-Identifier: Apache-2.0 */
/* Words that name a device or a network namespace, and orders about it. */
#ifndef CTXPROP_CMD_PLACE_H
#define CTXPROP_CMD_PLACE_H

#include "cmd/command.h"
#include "control/protocol.h"

/*
 * Tell the daemon to do this (CONTROL_ATTACH, CONTROL_DETACH) where the words say; a device without
 * a network namespace is one of this one, whose pins these are. Exit code.
 */
int place_order(enum control_type type, const struct pins *pins, const struct command_flags *flags);

#endif
