// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "cmd/command.h"
#include "cmd/profile_diff.h"
#include "cmd/profile_read.h"
#include "cmd/profile_show.h"
#include "cmd/profile_source.h"

/* A summary, and a file. The message is freed. */
static int show(const struct profile_reading *reading, struct message *message,
		const struct windows_said *said)
{
	int exit_code = profile_show(reading, message, said);

	if (!exit_code && reading->output)
		exit_code =
		    profile_write_message(reading->format, reading->output, message, reading->all);
	message_free(message);
	return exit_code;
}

static int show_file(const struct profile_reading *reading, const char *file)
{
	struct message message;
	int exit_code = profile_read_file(reading, file, &message);

	return exit_code ? exit_code : show(reading, &message, NULL);
}

static int show_last(const struct profile_reading *reading)
{
	struct windows_said said;
	struct message message;
	int exit_code = profile_read_last(reading, &message, &said);

	return exit_code ? exit_code : show(reading, &message, &said);
}

bool profile_is_reading(const char *word)
{
	return !strcmp(word, "show") || !strcmp(word, "diff");
}

int profile_read(const struct profile_reading *reading, const char *const *words, size_t count)
{
	if (count && !strcmp(words[0], "diff"))
		return profile_diff(reading, words + 1, count - 1);
	if (reading->by || reading->before)
		return command_misused("profile show: there is no --%s; diff has it",
				       reading->by ? "by" : "before");
	if (reading->last && count > 1)
		return command_misused(
		    "profile show: unexpected argument '%s': --last reads no file", words[1]);
	if (!reading->last && count != 2)
		return command_misused("profile show: expected one file of pprof (.pb.gz)");
	return reading->last ? show_last(reading) : show_file(reading, words[1]);
}
