// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cmd/command.h"
#include "cmd/profile_diff.h"
#include "cmd/profile_show.h"
#include "cmd/profile_source.h"
#include "cmd/profile_take.h"
#include "cmd/profile_write.h"

/* A summary, and a file. The message is freed. */
static int show(const struct profile_wanted *wanted, struct message *message,
		const struct windows_said *said)
{
	int exit_code = profile_show(wanted, message, &(struct profile_told){.windows = said});

	if (!exit_code && wanted->output)
		exit_code = profile_write(wanted->format, wanted->output, message, wanted->all);
	message_free(message);
	return exit_code;
}

static int show_file(const struct profile_wanted *wanted, const char *file)
{
	struct message message;
	int exit_code = profile_read_file(wanted, file, &message);

	return exit_code ? exit_code : show(wanted, &message, NULL);
}

static int show_last(const struct profile_wanted *wanted)
{
	struct windows_said said;
	struct message message;
	int exit_code = profile_read_last(wanted, &message, &said);

	return exit_code ? exit_code : show(wanted, &message, &said);
}

/* `ctxprop profile show`, `diff` and `--last`: profiles that were taken before. */
static int read_profiles(const struct profile_wanted *wanted, const struct command_flags *flags)
{
	const char *const *words = flags->words;
	const size_t count = flags->count;

	if (wanted->sampling)
		return command_misused("profile %s: --%s is for sampling",
				       count ? words[0] : "--last", wanted->sampling);
	if (count && !strcmp(words[0], "diff"))
		return profile_diff(wanted, words + 1, count - 1);
	if (wanted->by || wanted->before)
		return command_misused("profile show: there is no --%s; diff has it",
				       wanted->by ? "by" : "before");
	if (wanted->last && count > 1)
		return command_misused(
		    "profile show: unexpected argument '%s': --last reads no file", words[1]);
	if (!wanted->last && count != 2)
		return command_misused("profile show: expected one file of pprof (.pb.gz)");
	return wanted->last ? show_last(wanted) : show_file(wanted, words[1]);
}

static int read_tags(struct profile_wanted *wanted)
{
	char why[TAGS_WHY_MAX];
	int err;

	if (!wanted->tags_file)
		return COMMAND_OK;
	err = tags_read(wanted->tags_file, &wanted->tags, why);
	if (!err)
		return COMMAND_OK;
	return command_refuse("--tags %s: %s", wanted->tags_file, *why ? why : strerror(-err));
}

static bool is_reading(const char *word)
{
	return !strcmp(word, "show") || !strcmp(word, "diff");
}

int command_profile(const struct pins *pins, const struct command_flags *flags)
{
	struct profile_wanted *wanted;
	int exit_code;

	(void)pins;
	if (flags->count && !is_reading(flags->words[0]))
		return command_misused("profile: unexpected argument '%s'; expected show or diff",
				       flags->words[0]);
	exit_code = profile_options(&wanted);
	wanted->json = flags->json;
	if (!exit_code && wanted->output)
		exit_code = profile_check_writable(wanted->output);
	if (!exit_code)
		exit_code = read_tags(wanted);
	if (exit_code)
		return exit_code;
	if (flags->count || wanted->last)
		exit_code = read_profiles(wanted, flags);
	else
		exit_code = profile_take(wanted);
	tags_free(wanted->tags);
	return exit_code;
}
