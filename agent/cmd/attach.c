// SPDX-License-Identifier: Apache-2.0
#include "cmd/command.h"
#include "cmd/place.h"

const char command_attach_usage[] =
    "  attach DEV [netns NAME|PID|PATH]\n"
    "                           a device that was detached\n"
    "  attach netns NAME|PID|PATH\n"
    "                           a network namespace, beside those of ctxpropd's --netns\n";

int command_attach(const struct pins *pins, const struct command_flags *flags)
{
	if (!flags->count)
		return command_misused("attach: expected a device, or netns NAME|PID|PATH");
	return place_order(CONTROL_ATTACH, pins, flags);
}
