// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/talk.h"
#include "load/control.h"

/*
 * This is one write to a map, so it works at once and without a daemon, which is notified
 * afterwards.
 */
static int set(const struct pins *pins, const struct command_flags *flags, bool paused)
{
	int err = control_set_paused(pins->layer_dir, paused), status;

	if (err)
		return command_refuse_pins(pins, err);
	status =
	    json_answer(flags, json_pack("{sb}", "paused", (int)paused), "%s",
			paused ? "editing is off: requests get no header, live connections stay "
				 "translated"
			       : "editing is on");
	fflush(stdout);
	talk_tell(paused ? CONTROL_PAUSED : CONTROL_RESUMED);
	return status;
}

int command_pause(const struct pins *pins, const struct command_flags *flags)
{
	return set(pins, flags, true);
}

int command_resume(const struct pins *pins, const struct command_flags *flags)
{
	return set(pins, flags, false);
}
