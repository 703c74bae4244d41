// SPDX-License-Identifier: Apache-2.0
#include "cmd/command.h"
#include "cmd/json.h"
#include "load/control.h"

static int set(const struct pins *pins, const struct command_flags *flags, bool paused)
{
	int err = control_set_paused(pins->layer_dir, paused);

	if (err)
		return command_refuse_pins(pins, err);
	return flags->json ? json_print(json_pack("{sb}", "paused", (int)paused)) : COMMAND_OK;
}

int command_pause(const struct pins *pins, const struct command_flags *flags)
{
	return set(pins, flags, true);
}

int command_resume(const struct pins *pins, const struct command_flags *flags)
{
	return set(pins, flags, false);
}
