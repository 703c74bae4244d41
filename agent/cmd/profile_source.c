// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/profile_source.h"
#include "cmd/store.h"
#include "profile/counts.h"
#include "profile/message_path.h"
#include "profile/pprof_types.h"
#include "trace/query_words.h"

/* Are its values times or samples? */
static bool is_countable(const struct message *message)
{
	const struct message_weight weight = message_by_time(message);

	return !strcmp(weight.unit, "nanoseconds") || !strcmp(weight.unit, "count");
}

static bool label_fits(const struct message *message, const Label *label, const char *wanted)
{
	const char *key = message_text(message, label->key);
	const size_t length = strlen(key);
	char number[32];

	if (strncmp(wanted, key, length) != 0 || wanted[length] != '=')
		return false;
	snprintf(number, sizeof(number), "%lld", (long long)label->num);
	return !fnmatch(wanted + length + 1,
			label->str ? message_text(message, label->str) : number, 0);
}

/* Has it a label that fits "KEY=PATTERN"? Those that are numbers fit by their digits. */
static bool has_label(const struct message *message, const Sample *sample, const char *wanted)
{
	for (size_t i = 0; i < sample->n_label; i++)
		if (label_fits(message, sample->label[i], wanted))
			return true;
	return false;
}

static bool takes_sample(const struct message *message, const Sample *sample, const void *data)
{
	const struct filter *filter = data;
	const struct endpoint endpoint = {.name =
					      (char *)message_label(message, sample, "endpoint")};
	const char *bucket = message_label(message, sample, "latency_bucket");
	const char *trace = message_label(message, sample, "trace_id");
	enum latency latency = LATENCY_UNKNOWN;

	if (*bucket)
		latency_parse(bucket, &latency);
	if (filter->endpoint && !endpoint_fits(&endpoint, filter->endpoint))
		return false;
	if (filter->trace && strncmp(trace, filter->trace, strlen(filter->trace)) != 0)
		return false;
	for (size_t i = 0; i < filter->labels; i++)
		if (!has_label(message, sample, filter->label[i]))
			return false;
	return !filter->has_latency || filter->latency[latency];
}

/* The number of requests is dropped where only part of an endpoint's samples is shown. */
static bool keeps_count(const char *of, const void *data)
{
	const struct filter *filter = data;
	const char *tab = strchr(of, '\t');
	const struct endpoint endpoint = {.name = (char *)(tab ? tab + 1 : of)};

	if (filter->trace || filter->labels || filter->has_latency)
		return false;
	return !filter->endpoint || endpoint_fits(&endpoint, filter->endpoint);
}

static bool has_ids(const struct message *message)
{
	for (size_t i = 0; i < message->profile->n_sample; i++)
		if (*message_label(message, message->profile->sample[i], "trace_id"))
			return true;
	return false;
}

/* What of the message is wanted, and changed by the rules. The message is freed if that fails. */
static int choose(const struct profile_reading *reading, const char *name, struct message *message)
{
	const struct filter *filter = reading->filter;
	int exit_code = COMMAND_OK, err;
	struct message part;

	if (!is_countable(message))
		exit_code = command_refuse("%s: expected a profile of time, or of samples", name);
	else if (filter->trace && !has_ids(message))
		exit_code = command_refuse("%s: no sample says its trace: --trace is for profiles "
					   "that were taken with --ids",
					   name);
	if (!exit_code) {
		err = message_part(message, takes_sample, filter, &part);
		if (!err) {
			message->profile = part.profile;
			counts_keep(message, keeps_count, filter);
			err = reading->tags ? tags_apply(reading->tags, message) : 0;
		}
		if (err)
			exit_code = command_refuse("%s: %s", name, strerror(-err));
	}
	if (exit_code)
		message_free(message);
	return exit_code;
}

int profile_read_file(const struct profile_reading *reading, const char *file, struct message *ret)
{
	char why[MESSAGE_WHY_MAX];
	int err = message_read(file, ret, why);

	if (err)
		return command_refuse("%s: %s", file, *why ? why : strerror(-err));
	return choose(reading, file, ret);
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

static int read_windows(const struct profile_reading *reading, __s64 from_s, __s64 to_s,
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
	if (!reading->json)
		print_said(folder, ret_said);
	return choose(reading, folder, ret);
}

int profile_read_last(const struct profile_reading *reading, struct message *ret,
		      struct windows_said *ret_said)
{
	const __s64 now_ns = query_now_ns(), second = NS_PER_SECOND;

	return read_windows(reading, (now_ns - (__s64)reading->last_ns) / second,
			    now_ns / second + 1, ret, ret_said);
}

int profile_read_before(const struct profile_reading *reading, __s64 to_s, struct message *ret,
			struct windows_said *ret_said)
{
	return read_windows(reading, to_s - (__s64)(reading->before_ns / NS_PER_SECOND), to_s, ret,
			    ret_said);
}
