// SPDX-License-Identifier: Apache-2.0
#include "cmd/command.h"
#include "load/control.h"

static int set(const struct pins *pins, bool paused)
{
	int err = control_set_paused(pins->layer_dir, paused);

	return err ? command_refuse_pins(pins, err) : COMMAND_OK;
}

int command_pause(const struct pins *pins, const struct command_flags *flags)
{
	(void)flags;
	return set(pins, true);
}

int command_resume(const struct pins *pins, const struct command_flags *flags)
{
	(void)flags;
	return set(pins, false);
}
