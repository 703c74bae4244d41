// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/place.h"
#include "load/control.h"
#include "load/removal.h"

const struct option_row command_detach_options[] = {
    {"force", 'f', NULL, "detach even if connections will break", .flag = &command_flags.force},
    {},
};

const char command_detach_usage[] =
    "  detach                   everything in this network namespace; ctxpropd must not run\n"
    "  detach DEV [netns NAME|PID|PATH]\n"
    "                           one device; ctxpropd leaves it alone until it is attached again\n"
    "  detach netns NAME|PID|PATH\n"
    "                           a network namespace of ctxpropd's --netns, likewise\n";

static void complain(const char *device, int err)
{
	command_refuse("%s: %s", device, strerror(-err));
}

static int refuse_damage(const struct damage *damage)
{
	if (damage->shifted)
		command_refuse(
		    "%lu live connections carry added bytes and would break; stop "
		    "ctxpropd, wait until they close (ctxprop drain does), or use --force",
		    damage->shifted);
	if (damage->unknown)
		command_refuse("%u layers of another build cannot be read here; use the ctxprop of "
			       "that build, or --force",
			       damage->unknown);
	return COMMAND_REFUSED;
}

int command_remove_all(const struct pins *pins)
{
	int err = removal_do(pins, complain);

	if (err)
		return command_refuse("not everything could be removed: %s", strerror(-err));
	err = removal_finish();
	if (err)
		return command_refuse("the probes could not be removed: %s", strerror(-err));
	return COMMAND_OK;
}

static int detach_locked(const struct pins *pins, const struct command_flags *flags)
{
	bool was_paused = control_is_paused(pins->layer_dir) != 0;
	struct damage damage;
	int err = removal_assess(pins, &damage);

	if (err && !flags->force)
		return command_refuse("the flow table cannot be read: %s", strerror(-err));
	if (flags->force || (!damage.shifted && !damage.unknown)) {
		int status = command_remove_all(pins);

		return status ? status
			      : json_answer(flags, json_pack("{sb}", "detached", 1),
					    "everything of ctxprop is removed from this network "
					    "namespace");
	}
	control_set_paused(pins->layer_dir, was_paused);
	return refuse_damage(&damage);
}

int command_detach(const struct pins *pins, const struct command_flags *flags)
{
	if (flags->count)
		return place_order(CONTROL_DETACH, pins, flags);

	_cleanup_close_ int lock = pins_lock_existing(pins);

	if (lock == -EWOULDBLOCK && pins_owner(pins))
		return command_refuse("the ctxpropd of another network namespace attends this one, "
				      "and would attach again; see 'ctxprop detach netns'");
	if (lock == -EWOULDBLOCK)
		return command_refuse("a ctxpropd is running in this network namespace; stop it "
				      "first, it would attach again, or see 'ctxprop drain'");
	if (lock < 0)
		return command_refuse_pins(pins, lock);
	return detach_locked(pins, flags);
}
