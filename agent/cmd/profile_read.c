// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/profile_diff.h"
#include "cmd/profile_read.h"
#include "cmd/safe.h"
#include "profile/flame_message.h"
#include "trace/json.h"

#define ROWS 20

/* Is what it counts something that can be called time, or samples? */
static bool is_countable(const struct message *message)
{
	const struct message_weight weight = message_by_time(message);

	return !strcmp(weight.unit, "nanoseconds") || !strcmp(weight.unit, "count");
}

/* Has it a label that fits "KEY=PATTERN"? */
static bool has_label(const struct message *message, const Perftools__Profiles__Sample *sample,
		      const char *wanted)
{
	const char *pattern = strchr(wanted, '=');
	char key[PROFILE_LABEL_KEY];
	const char *value;

	if (!pattern || (size_t)(pattern - wanted) >= sizeof(key))
		return false;
	text_copy(key, (size_t)(pattern - wanted) + 1, wanted);
	value = message_label(message, sample, key);
	return *value && !fnmatch(pattern + 1, value, 0);
}

static bool takes_sample(const struct message *message, const Perftools__Profiles__Sample *sample,
			 const void *data)
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

static int refuse_file(const char *file, int err, const char *why)
{
	return command_refuse("%s: %s", file, *why ? why : strerror(-err));
}

int profile_read_file(const struct profile_reading *reading, const char *file, struct message *ret)
{
	char why[MESSAGE_WHY_MAX];
	struct message part;
	int err = message_read(file, ret, why);

	if (err)
		return refuse_file(file, err, why);
	if (!is_countable(ret)) {
		message_free(ret);
		return command_refuse("%s: expected a profile of time, or of samples", file);
	}
	err = message_part(ret, takes_sample, reading->filter, &part);
	if (!err) {
		ret->profile = part.profile;
		err = reading->tags ? tags_apply(reading->tags, ret) : 0;
	}
	if (!err)
		return COMMAND_OK;
	message_free(ret);
	return refuse_file(file, err, "");
}

static int compare(const void *a, const void *b)
{
	const struct flame *first = *(const struct flame *const *)a;
	const struct flame *second = *(const struct flame *const *)b;

	return (first->total < second->total) - (first->total > second->total);
}

/* What stands on the root, the widest first. Returns how many there are. */
static size_t sort_children(const struct flame *root, const struct flame ***ret)
{
	const struct flame **sorted;
	size_t count = 0;

	for (const struct flame *child = root->child; child; child = child->sibling)
		count++;
	sorted = calloc(count + 1, sizeof(const struct flame *));
	*ret = sorted;
	if (!sorted)
		return 0;
	for (const struct flame *child = root->child; child; child = child->sibling)
		*sorted++ = child;
	qsort(*ret, count, sizeof(const struct flame *), compare);
	return count;
}

static void print_child(const struct flame *child, const struct flame *root, enum flame_unit unit)
{
	const double amount = unit == FLAME_NS ? (double)child->total / 1e6 : (double)child->total;
	__u64 hottest = 0;
	const char *name = flame_hottest(child, &hottest);

	printf("%10.0f %6.1f%%  ", amount, 100.0 * (double)child->total / (double)root->total);
	safe_print(child->name);
	if (name) {
		fputs("  ", stdout);
		safe_print(name);
		printf(" %.0f%%", 100.0 * (double)hottest / (double)child->total);
	}
	putchar('\n');
}

static void print_summary(const struct flame *root, enum flame_unit unit)
{
	const struct flame **sorted;
	size_t count = sort_children(root, &sorted);

	printf("%10s %7s  %s\n", unit == FLAME_NS ? "MS" : "SAMPLES", "SHARE",
	       "ENDPOINT  HOTTEST FUNCTION");
	for (size_t i = 0; i < count && i < ROWS; i++)
		print_child(sorted[i], root, unit);
	free(sorted);
}

static int print_json(const struct flame *root, enum flame_unit unit)
{
	const char *key = unit == FLAME_NS ? "ns" : "samples";
	json_t *endpoints = json_array();
	const struct flame **sorted;
	size_t count = sort_children(root, &sorted);

	for (size_t i = 0; i < count; i++) {
		json_t *object = json_pack("{sI}", key, (json_int_t)sorted[i]->total);

		json_set_text(object, "endpoint", sorted[i]->name);
		json_array_append_new(endpoints, object);
	}
	free(sorted);
	return json_print(
	    json_pack("{sI,so}", key, (json_int_t)root->total, "endpoints", endpoints));
}

static int summarise(const struct profile_reading *reading, const struct message *message)
{
	const struct message_weight weight = message_by_count(message);
	struct flame *root = flame_of_message(&weight, true);
	int exit_code = COMMAND_OK;

	if (!root)
		return command_refuse("out of memory");
	if (reading->json)
		exit_code = print_json(root, flame_unit_of(&weight));
	else
		print_summary(root, flame_unit_of(&weight));
	flame_free(root);
	return exit_code;
}

static int show(const struct profile_reading *reading, const char *const *words, size_t count)
{
	struct message message;
	int exit_code;

	if (count != 1)
		return command_misused("profile show: expected one file of pprof (.pb.gz)");
	if (reading->by)
		return command_misused("profile show: there is no --by; diff has it");
	exit_code = profile_read_file(reading, words[0], &message);
	if (exit_code)
		return exit_code;
	exit_code = summarise(reading, &message);
	if (!exit_code && reading->output)
		exit_code = profile_write_message(reading->format, reading->output, &message);
	message_free(&message);
	return exit_code;
}

bool profile_is_reading(const char *word)
{
	return !strcmp(word, "show") || !strcmp(word, "diff");
}

int profile_read(const struct profile_reading *reading, const char *const *words, size_t count)
{
	if (!strcmp(words[0], "show"))
		return show(reading, words + 1, count - 1);
	return profile_diff(reading, words + 1, count - 1);
}
