// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/netns.h"
#include "base/text.h"
#include "cmd/json.h"
#include "cmd/place.h"
#include "cmd/talk.h"

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

int place_order(enum control_type type, const struct pins *pins, const struct command_flags *flags)
{
	struct control_place place = {.force = flags->force};
	const struct talk order = {.type = type, .place = &place};
	const char *done = type == CONTROL_DETACH ? "detached" : "attached";
	int status = read_words(flags, &place);
	const bool named = place.netns != 0;

	/* A daemon of another namespace would take a device alone for one of its own. */
	if (!named && pins_owner(pins))
		place.netns = pins->cookie;
	if (status == COMMAND_OK)
		status = talk_order(&order);
	if (status != COMMAND_OK)
		return status;
	return json_answer(flags, json_pack("{sb}", done, 1), "%s%s%s%s%s", done,
			   place.device[0] ? " " : "", place.device, named ? " netns " : "",
			   named ? flags->words[flags->count - 1] : "");
}
