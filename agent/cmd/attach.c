// SPDX-License-Identifier: Apache-2.0
/* attach and detach: of a device, of a network namespace, or of everything. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/netns.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/talk.h"
#include "control/protocol.h"
#include "load/control.h"
#include "load/removal.h"

const char command_attach_usage[] =
    "  attach DEV [netns NAME|PID|PATH]\n"
    "                           a device that was detached\n"
    "  attach netns NAME|PID|PATH\n"
    "                           a network namespace, beside those of ctxpropd's --netns\n";

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

static int read_netns(const char *which, struct control_place *place)
{
	int err = netns_cookie_of(which, &place->netns);

	return err ? command_refuse("netns %s: %s", which, netns_why(err)) : COMMAND_OK;
}

/* [dev] DEV [netns WHICH] | netns WHICH */
static int read_words(const struct command_flags *flags, struct control_place *ret)
{
	const char *command = flags->name;
	size_t i = 0;

	if (i < flags->count && strcmp(flags->words[i], "netns") != 0) {
		i += !strcmp(flags->words[i], "dev") && flags->count > 1;
		if (strlen(flags->words[i]) >= sizeof(ret->device))
			return command_misused("%s: '%s' is not the name of a device", command,
					       flags->words[i]);
		text_copy(ret->device, sizeof(ret->device), flags->words[i++]);
	}
	if (i == flags->count)
		return COMMAND_OK;
	if (strcmp(flags->words[i], "netns") != 0 || i + 2 != flags->count)
		return command_misused("%s: '%s': expected netns NAME|PID|PATH, and nothing more",
				       command, flags->words[i]);
	return read_netns(flags->words[i + 1], ret);
}

/*
 * Tell the daemon to do this (CONTROL_ATTACH, CONTROL_DETACH) where the words say; a device without
 * a network namespace is one of this one, whose pins these are. Exit code.
 */
static int order(enum control_type type, const struct pins *pins, const struct command_flags *flags)
{
	struct control_place place = {.force = flags->force};
	const struct talk talk = {.type = type, .place = &place};
	const char *done = type == CONTROL_DETACH ? "detached" : "attached";
	int status = read_words(flags, &place);
	const bool named = place.netns != 0;

	/* A daemon of another namespace would look for a device without a namespace in its own. */
	if (!named && pins_owner(pins))
		place.netns = pins->cookie;
	if (status == COMMAND_OK)
		status = talk_order(&talk);
	if (status != COMMAND_OK)
		return status;
	return json_answer(flags, json_pack("{sb}", done, 1), "%s%s%s%s%s", done,
			   place.device[0] ? " " : "", place.device, named ? " netns " : "",
			   named ? flags->words[flags->count - 1] : "");
}

int command_attach(const struct pins *pins, const struct command_flags *flags)
{
	if (!flags->count)
		return command_misused("attach: expected a device, or netns NAME|PID|PATH");
	return order(CONTROL_ATTACH, pins, flags);
}

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
		return order(CONTROL_DETACH, pins, flags);

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
