// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cmd/command.h"
#include "cmd/profile_options.h"
#include "cmd/profile_read.h"
#include "cmd/profile_take.h"
#include "cmd/profile_write.h"

static int read_profiles(const struct profile_wanted *wanted, const struct command_flags *flags,
			 const struct tags *tags)
{
	const struct profile_reading reading = {.output = wanted->file,
						.format = wanted->format,
						.filter = &wanted->filter,
						.tags = tags,
						.by = wanted->by,
						.last = wanted->last,
						.before = wanted->before,
						.last_ns = wanted->last_ns,
						.before_ns = wanted->before_ns,
						.json = flags->json,
						.all = wanted->all};

	if (wanted->sampling)
		return command_misused("profile %s: --%s is for sampling",
				       flags->count ? flags->words[0] : "--last", wanted->sampling);
	return profile_read(&reading, flags->words, flags->count);
}

/* NULL in `ret`: there are none. Returns an exit code. */
static int read_tags(const struct profile_wanted *wanted, struct tags **ret)
{
	char why[TAGS_WHY_MAX];
	int err;

	*ret = NULL;
	if (!wanted->tags)
		return COMMAND_OK;
	err = tags_read(wanted->tags, ret, why);
	if (!err)
		return COMMAND_OK;
	return command_refuse("--tags %s: %s", wanted->tags, *why ? why : strerror(-err));
}

int command_profile(const struct pins *pins, const struct command_flags *flags)
{
	struct profile_wanted *wanted;
	struct tags *tags;
	int exit_code;

	(void)pins;
	if (flags->count && !profile_is_reading(flags->words[0]))
		return command_misused("profile: unexpected argument '%s'; expected show or diff",
				       flags->words[0]);
	exit_code = profile_options(&wanted);
	if (!exit_code && wanted->file)
		exit_code = profile_check_writable(wanted->file);
	if (!exit_code)
		exit_code = read_tags(wanted, &tags);
	if (exit_code)
		return exit_code;
	if (flags->count || wanted->last)
		exit_code = read_profiles(wanted, flags, tags);
	else
		exit_code = profile_take(wanted, tags, flags->json);
	tags_free(tags);
	return exit_code;
}
