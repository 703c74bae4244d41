// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <jansson.h>

#include "base/foreign.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/json.h"
#include "cmd/profile_diff.h"
#include "cmd/profile_source.h"
#include "cmd/profile_write.h"
#include "profile/draw/diff.h"
#include "profile/message/endpoints.h"
#include "trace/json.h"

#define ROWS      20
#define WORDS_MAX 1024

/* What the samples of one side have in common: a label. */
struct side {
	const char *key, *value;
};

/* What is compared: the files, or parts of the first one. */
struct sides {
	struct message file[DIFF_SIDES], part[DIFF_SIDES];
	const char *name[DIFF_SIDES];
	bool with_endpoint;
};

static bool label_fits(const struct message *message, const Perftools__Profiles__Label *label,
		       const char *value)
{
	char number[32];

	if (label->str)
		return !strcmp(message_text(message, label->str), value);
	snprintf(number, sizeof(number), "%lld", (long long)label->num);
	return !strcmp(number, value);
}

static bool is_of_side(const struct message *message, const Perftools__Profiles__Sample *sample,
		       const void *data)
{
	const struct side *side = data;

	if (!strcmp(side->key, "endpoint"))
		return endpoint_fits(message_label(message, sample, "endpoint"), side->value);
	for (size_t i = 0; i < sample->n_label; i++)
		if (!strcmp(message_text(message, sample->label[i]->key), side->key) &&
		    label_fits(message, sample->label[i], side->value))
			return true;
	return false;
}

static int take_part(struct sides *sides, const char *key, char *value, enum diff_side number)
{
	const struct side side = {strcmp(key, "bucket") ? key : "latency_bucket", value};

	sides->name[number] = value;
	if (message_part(&sides->file[0], is_of_side, &side, &sides->part[number]))
		return command_refuse("out of memory");
	if (!sides->part[number].profile->n_sample)
		return command_refuse("profile diff: there are no samples with %s=%s", key, value);
	return COMMAND_OK;
}

/* "KEY=ONE,OTHER"; the words stay in `buffer`. */
static int take_parts(const struct profile_wanted *wanted, char *buffer, struct sides *sides)
{
	char *value, *other;
	int exit_code;

	text_copy(buffer, WORDS_MAX, wanted->by);
	value = strchr(buffer, '=');
	other = value ? strchr(value, ',') : NULL;
	if (!value || value == buffer || !other || other == value + 1 || !other[1] ||
	    strchr(other + 1, ',') || strlen(wanted->by) >= WORDS_MAX)
		return command_misused("--by %s: expected a label and two of its values: "
				       "endpoint='GET /a','GET /b' or bucket=p50,p99",
				       wanted->by);
	*value++ = *other++ = '\0';
	sides->with_endpoint = strcmp(buffer, "endpoint") != 0;
	exit_code = take_part(sides, buffer, value, DIFF_BEFORE);
	return exit_code ? exit_code : take_part(sides, buffer, other, DIFF_AFTER);
}

static void print_function(const struct diff_function *function)
{
	const double *self = function->self, *total = function->total;

	printf("%7.2f%% %7.2f%% %+8.2f  %7.2f%% %7.2f%% %+8.2f  ", 100 * self[DIFF_BEFORE],
	       100 * self[DIFF_AFTER], 100 * (self[DIFF_AFTER] - self[DIFF_BEFORE]),
	       100 * total[DIFF_BEFORE], 100 * total[DIFF_AFTER],
	       100 * (total[DIFF_AFTER] - total[DIFF_BEFORE]));
	foreign_print(function->name);
	putchar('\n');
}

static void print_functions(const struct diff *diff)
{
	printf("%8s %8s %8s  %8s %8s %8s  %s\n", "SELF", "AFTER", "CHANGE", "TOTAL", "AFTER",
	       "CHANGE", "FUNCTION");
	for (size_t i = 0; i < diff->count && i < ROWS; i++)
		print_function(&diff->function[i]);
}

static int print_json(const struct diff *diff)
{
	json_t *functions = json_array();

	for (size_t i = 0; i < diff->count; i++) {
		const struct diff_function *function = &diff->function[i];
		json_t *object =
		    json_pack("{s[ff],s[ff]}", "self", function->self[DIFF_BEFORE],
			      function->self[DIFF_AFTER], "total", function->total[DIFF_BEFORE],
			      function->total[DIFF_AFTER]);

		json_set_text(object, "function", function->name);
		json_array_append_new(functions, object);
	}
	return json_print(json_pack("{so}", "functions", functions));
}

/* A picture that is to be written. */
struct drawing {
	const struct diff *diff;
	const char *title;
};

static int write_picture(const void *data, FILE *out)
{
	const struct drawing *drawing = data;

	diff_write_svg(drawing->diff, drawing->title, out);
	return 0;
}

static int write_output(const struct profile_wanted *wanted, const struct sides *sides,
			const struct diff *diff)
{
	char title[WORDS_MAX];
	const struct drawing drawing = {diff, title};

	snprintf(title, sizeof(title), "From %.400s to %.400s: red is more, blue is less",
		 sides->name[DIFF_BEFORE], sides->name[DIFF_AFTER]);
	return profile_write_file(wanted->output, write_picture, &drawing);
}

static int compare(const struct profile_wanted *wanted, const struct sides *sides)
{
	const struct message_weight weight[DIFF_SIDES] = {
	    message_by_time(&sides->part[DIFF_BEFORE]), message_by_time(&sides->part[DIFF_AFTER])};
	struct diff diff;
	int exit_code = COMMAND_OK;

	if (!message_weights_fit(&weight[DIFF_BEFORE], &weight[DIFF_AFTER]))
		return command_refuse(
		    "profile diff: %s and %s cannot be compared: only one of them has times",
		    sides->name[DIFF_BEFORE], sides->name[DIFF_AFTER]);
	if (diff_new(weight, sides->with_endpoint, &diff))
		return command_refuse("out of memory");
	if (wanted->json)
		exit_code = print_json(&diff);
	else
		print_functions(&diff);
	if (!exit_code && wanted->output)
		exit_code = write_output(wanted, sides, &diff);
	diff_free(&diff);
	return exit_code;
}

/* `file`: NULL for windows. */
static int compare_parts(const struct profile_wanted *wanted, const char *file)
{
	struct sides sides = {};
	char buffer[WORDS_MAX];
	struct windows_said said;
	int exit_code = file ? profile_read_file(wanted, file, &sides.file[0])
			     : profile_read_last(wanted, &sides.file[0], &said);

	if (exit_code)
		return exit_code;
	exit_code = take_parts(wanted, buffer, &sides);
	if (!exit_code)
		exit_code = compare(wanted, &sides);
	message_free(&sides.file[0]);
	return exit_code;
}

/* Both sides without what belongs to no request, unless a side has nothing else, or --all is given.
 */
static int compare_sides(const struct profile_wanted *wanted, struct sides *sides)
{
	const bool leaves_out = !wanted->all && message_of_requests(&sides->file[DIFF_BEFORE]) &&
				message_of_requests(&sides->file[DIFF_AFTER]);

	for (enum diff_side side = 0; side < DIFF_SIDES; side++) {
		if (!sides->file[side].profile->n_sample)
			return command_refuse("%s: it has no samples", sides->name[side]);
		sides->part[side] = sides->file[side];
		if (leaves_out && message_requests(&sides->file[side], &sides->part[side]))
			return command_refuse("out of memory");
	}
	return compare(wanted, sides);
}

static int compare_files(const struct profile_wanted *wanted, const char *const *files)
{
	struct sides sides = {.with_endpoint = true};
	int exit_code = COMMAND_OK;

	for (enum diff_side side = 0; !exit_code && side < DIFF_SIDES; side++) {
		sides.name[side] = files[side];
		exit_code = profile_read_file(wanted, files[side], &sides.file[side]);
	}
	if (!exit_code)
		exit_code = compare_sides(wanted, &sides);
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		message_free(&sides.file[side]);
	return exit_code;
}

/* The last windows, and those that end where these begin: no window is on both sides. */
static int compare_times(const struct profile_wanted *wanted)
{
	char before[64], after[64];
	struct sides sides = {.with_endpoint = true, .name = {before, after}};
	struct windows_said said;
	int exit_code = profile_read_last(wanted, &sides.file[DIFF_AFTER], &said);

	snprintf(before, sizeof(before), "the %.32s before", wanted->before);
	snprintf(after, sizeof(after), "the last %.32s", wanted->last);
	if (exit_code)
		return exit_code;
	exit_code = profile_read_before(wanted, said.time.from_s, &sides.file[DIFF_BEFORE], &said);
	if (!exit_code)
		exit_code = compare_sides(wanted, &sides);
	for (enum diff_side side = 0; side < DIFF_SIDES; side++)
		message_free(&sides.file[side]);
	return exit_code;
}

static int compare_windows(const struct profile_wanted *wanted, size_t files)
{
	if (files || !wanted->by == !wanted->before)
		return command_misused("profile diff --last: expected --before TIME or --by "
				       "KEY=ONE,OTHER, and no file");
	return wanted->by ? compare_parts(wanted, NULL) : compare_times(wanted);
}

int profile_diff(const struct profile_wanted *wanted, const char *const *words, size_t count)
{
	if (wanted->before && !wanted->last)
		return command_misused("profile diff: --before is for --last");
	if (!wanted->last && count != (wanted->by ? 1 : 2))
		return command_misused("profile diff: expected two files of pprof (.pb.gz), or "
				       "one and --by KEY=ONE,OTHER");
	if (wanted->output && !profile_format_is(wanted->format, "svg"))
		return command_misused("--output %s: a difference is written as svg",
				       wanted->output);
	if (wanted->last)
		return compare_windows(wanted, count);
	return wanted->by ? compare_parts(wanted, words[0]) : compare_files(wanted, words);
}
