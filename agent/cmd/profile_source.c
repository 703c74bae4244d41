// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/profile_source.h"
#include "cmd/store.h"
#include "profile/message/path.h"
#include "trace/query_words.h"

/* Are its values times or samples? */
static bool is_countable(const struct message *message)
{
	const struct message_weight weight = message_by_time(message);

	return !strcmp(weight.unit, "nanoseconds") || !strcmp(weight.unit, "count");
}

int profile_choose(const struct profile_wanted *wanted, const char *name, struct message *message)
{
	int err = message_filter(message, &wanted->filter);

	if (!err && wanted->tags)
		err = tags_apply(wanted->tags, message);
	return err ? command_refuse("%s: %s", name, strerror(-err)) : COMMAND_OK;
}

static bool has_ids(const struct message *message)
{
	for (size_t i = 0; i < message->profile->n_sample; i++)
		if (*message_label(message, message->profile->sample[i], "trace_id"))
			return true;
	return false;
}

/* What of the message is wanted, and changed by the rules. The message is freed if that fails. */
static int choose(const struct profile_wanted *wanted, const char *name, struct message *message)
{
	int exit_code = COMMAND_OK;

	if (!is_countable(message))
		exit_code = command_refuse("%s: expected a profile of time, or of samples", name);
	else if (wanted->filter.trace && !has_ids(message))
		exit_code = command_refuse("%s: no sample says its trace: --trace is for profiles "
					   "that were taken with --ids",
					   name);
	if (!exit_code)
		exit_code = profile_choose(wanted, name, message);
	if (exit_code)
		message_free(message);
	return exit_code;
}

int profile_read_file(const struct profile_wanted *wanted, const char *file, struct message *ret)
{
	char why[MESSAGE_WHY_MAX];
	int err = message_read(file, ret, why);

	if (err)
		return command_refuse("%s: %s", file, *why ? why : strerror(-err));
	return choose(wanted, file, ret);
}

static const char *time_text(__s64 seconds, char *buffer, size_t size)
{
	const time_t time = (time_t)seconds;
	struct tm local;

	if (!localtime_r(&time, &local) || !strftime(buffer, size, "%H:%M:%S", &local))
		snprintf(buffer, size, "%lld", seconds);
	return buffer;
}

/* Say which time the profile covers: it may be less than was asked for. */
static void print_said(const char *folder, const struct windows_said *said)
{
	char from[24], to[24];

	fprintf(stderr, "profile: %zu windows from %s to %s\n", said->count,
		time_text(said->time.from_s, from, sizeof(from)),
		time_text(said->time.to_s, to, sizeof(to)));
	if (said->unreadable)
		fprintf(stderr, "profile: %zu windows cannot be read: %s/%s: %s\n",
			said->unreadable, folder, said->unreadable_name, said->unreadable_why);
	if (said->left_out)
		fprintf(stderr,
			"profile: %zu earlier windows were left out: too much to read at once\n",
			said->left_out);
}

static int read_windows(const struct profile_wanted *wanted, __s64 from_s, __s64 to_s,
			struct message *ret, struct windows_said *ret_said)
{
	const char *store = command_store_path();
	char folder[PATH_MAX], why[MESSAGE_WHY_MAX];

	if (!store)
		return command_refuse_path();
	if (windows_folder(store, folder))
		return command_refuse("--store %s: %s", store, strerror(ENAMETOOLONG));
	if (windows_read(folder, from_s, to_s, ret, ret_said, why))
		return command_refuse("profile: %s: %s", folder, why);
	if (!wanted->json)
		print_said(folder, ret_said);
	return choose(wanted, folder, ret);
}

int profile_read_last(const struct profile_wanted *wanted, struct message *ret,
		      struct windows_said *ret_said)
{
	const __s64 now_ns = query_now_ns(), second = NS_PER_SECOND;

	return read_windows(wanted, (now_ns - (__s64)wanted->last_ns) / second, now_ns / second + 1,
			    ret, ret_said);
}

int profile_read_before(const struct profile_wanted *wanted, __s64 to_s, struct message *ret,
			struct windows_said *ret_said)
{
	return read_windows(wanted, to_s - (__s64)(wanted->before_ns / NS_PER_SECOND), to_s, ret,
			    ret_said);
}
