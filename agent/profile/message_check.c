// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/message_check.h"
#include "profile/pprof_types.h"

#define COUNT_MAX INT_MAX /* of anything: numbers of OTLP are int32 */

/* An id of the file, and the place of what has it. */
struct place {
	__u64 id, number;
};

struct checking {
	Profile *profile;
	char *why;
};

__attribute__((format(printf, 2, 3))) static int refuse(struct checking *checking,
							const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(checking->why, MESSAGE_WHY_MAX, format, args);
	va_end(args);
	return -EINVAL;
}

/* What is not known is not written again: whether it still held could not be told. */
static void forget(ProtobufCMessage *message)
{
	message->n_unknown_fields = 0;
	message->unknown_fields = NULL;
}

static int compare(const void *a, const void *b)
{
	const struct place *first = a, *second = b;

	return (first->id > second->id) - (first->id < second->id);
}

/* In order of their ids, each of which may be there once and is not 0. */
static int sort(struct checking *checking, const char *what, struct place *place, size_t count)
{
	qsort(place, count, sizeof(*place), compare);
	for (size_t i = 0; i < count; i++)
		if (!place[i].id || (i && place[i].id == place[i - 1].id))
			return refuse(checking, "%s %llu occurs twice, or has no id", what,
				      place[i].id);
	return 0;
}

/* From an id of the file to a place plus 1. */
static int renumber(struct checking *checking, const char *what, const struct place *place,
		    size_t count, uint64_t *id)
{
	const struct place key = {.id = *id};
	const struct place *found = bsearch(&key, place, count, sizeof(*place), compare);

	if (!found)
		return refuse(checking, "there is no %s %llu", what, key.id);
	*id = found->number;
	return 0;
}

static bool is_text(const struct checking *checking, int64_t number)
{
	return number >= 0 && (__u64)number < checking->profile->n_string_table;
}

static int check_texts(struct checking *checking)
{
	const Profile *profile = checking->profile;

	if (!profile->n_string_table || *profile->string_table[0])
		return refuse(checking, "its first string is not empty");
	if (!is_text(checking, profile->drop_frames) || !is_text(checking, profile->keep_frames) ||
	    !is_text(checking, profile->doc_url))
		return refuse(checking, "a text of it is none");
	for (size_t i = 0; i < profile->n_comment; i++)
		if (!is_text(checking, profile->comment[i]))
			return refuse(checking, "a comment refers to a missing string");
	return 0;
}

static int check_type(struct checking *checking, ValueType *type)
{
	forget(&type->base);
	if (is_text(checking, type->type) && is_text(checking, type->unit))
		return 0;
	return refuse(checking, "a value type refers to a missing string");
}

static int check_types(struct checking *checking)
{
	const Profile *profile = checking->profile;
	int err = 0;

	if (!profile->n_sample_type)
		return refuse(checking, "it has no value types");
	if (!is_text(checking, profile->default_sample_type))
		return refuse(checking, "its default value type refers to a missing string");
	for (size_t i = 0; !err && i < profile->n_sample_type; i++)
		err = check_type(checking, profile->sample_type[i]);
	return !err && profile->period_type ? check_type(checking, profile->period_type) : err;
}

static int check_counts(struct checking *checking)
{
	const Profile *profile = checking->profile;

	if (profile->n_sample > COUNT_MAX || profile->n_location >= COUNT_MAX ||
	    profile->n_function >= COUNT_MAX || profile->n_mapping >= COUNT_MAX ||
	    profile->n_string_table > COUNT_MAX / 2)
		return refuse(checking, "it is too large");
	return 0;
}

static int number_mappings(struct checking *checking, struct place *place)
{
	for (size_t i = 0; i < checking->profile->n_mapping; i++) {
		Mapping *mapping = checking->profile->mapping[i];

		if (!is_text(checking, mapping->filename) || !is_text(checking, mapping->build_id))
			return refuse(checking,
				      "the file name of a mapping refers to a missing string");
		forget(&mapping->base);
		place[i] = (struct place){mapping->id, i + 1};
		mapping->id = i + 1;
	}
	return sort(checking, "mapping", place, checking->profile->n_mapping);
}

static int number_functions(struct checking *checking, struct place *place)
{
	for (size_t i = 0; i < checking->profile->n_function; i++) {
		Function *function = checking->profile->function[i];

		if (!is_text(checking, function->name) ||
		    !is_text(checking, function->system_name) ||
		    !is_text(checking, function->filename))
			return refuse(checking,
				      "the name of a function refers to a missing string");
		forget(&function->base);
		place[i] = (struct place){function->id, i + 1};
		function->id = i + 1;
	}
	return sort(checking, "function", place, checking->profile->n_function);
}

/* Lines without a function say nothing. */
static int check_lines(struct checking *checking, Location *location, const struct place *functions)
{
	size_t count = 0;
	int err = 0;

	for (size_t i = 0; !err && i < location->n_line; i++) {
		if (!location->line[i]->function_id)
			continue;
		err = renumber(checking, "function", functions, checking->profile->n_function,
			       &location->line[i]->function_id);
		forget(&location->line[i]->base);
		location->line[count++] = location->line[i];
	}
	location->n_line = count;
	return err;
}

static int number_locations(struct checking *checking, struct place *place,
			    const struct place *mappings, const struct place *functions)
{
	int err = 0;

	for (size_t i = 0; !err && i < checking->profile->n_location; i++) {
		Location *location = checking->profile->location[i];

		forget(&location->base);
		place[i] = (struct place){location->id, i + 1};
		location->id = i + 1;
		if (location->mapping_id)
			err = renumber(checking, "mapping", mappings, checking->profile->n_mapping,
				       &location->mapping_id);
		if (!err)
			err = check_lines(checking, location, functions);
	}
	return err ? err : sort(checking, "location", place, checking->profile->n_location);
}

static int check_labels(struct checking *checking, const Sample *sample)
{
	for (size_t i = 0; i < sample->n_label; i++) {
		Label *label = sample->label[i];

		forget(&label->base);
		if (!is_text(checking, label->key) || !is_text(checking, label->str) ||
		    !is_text(checking, label->num_unit))
			return refuse(checking, "a label refers to a missing string");
	}
	return 0;
}

/* `total`: of all samples and types up to here, which shares are made of. */
static int check_sample(struct checking *checking, Sample *sample, const struct place *locations,
			__u64 *total)
{
	int err = check_labels(checking, sample);

	forget(&sample->base);
	if (!err && sample->n_value != checking->profile->n_sample_type)
		return refuse(checking, "a sample has %zu values instead of %zu", sample->n_value,
			      checking->profile->n_sample_type);
	for (size_t i = 0; !err && i < sample->n_value; i++) {
		if (sample->value[i] < 0 || (__u64)sample->value[i] > LLONG_MAX - *total)
			return refuse(checking, "its values are negative, or too large");
		*total += (__u64)sample->value[i];
	}
	for (size_t i = 0; !err && i < sample->n_location_id; i++)
		err = renumber(checking, "location", locations, checking->profile->n_location,
			       &sample->location_id[i]);
	return err;
}

/* Trees of deeper ones could not be walked. */
static bool is_deep(const struct checking *checking, const Sample *sample)
{
	size_t depth = 0;

	for (size_t i = 0; i < sample->n_location_id && depth <= MESSAGE_DEPTH_MAX; i++)
		depth += 1 + checking->profile->location[sample->location_id[i] - 1]->n_line;
	return depth > MESSAGE_DEPTH_MAX;
}

static int check_samples(struct checking *checking, const struct place *locations)
{
	__u64 total = 0;
	int err = 0;

	for (size_t i = 0; !err && i < checking->profile->n_sample; i++) {
		err = check_sample(checking, checking->profile->sample[i], locations, &total);
		if (!err && is_deep(checking, checking->profile->sample[i]))
			return refuse(checking, "a stack is deeper than can be shown");
	}
	return err;
}

/* What samples refer to, from the inside out. */
static int number_all(struct checking *checking)
{
	const Profile *profile = checking->profile;
	_cleanup_free_ struct place *mappings = calloc(profile->n_mapping + 1, sizeof(*mappings));
	_cleanup_free_ struct place *functions =
	    calloc(profile->n_function + 1, sizeof(*functions));
	_cleanup_free_ struct place *locations =
	    calloc(profile->n_location + 1, sizeof(*locations));
	int err = mappings && functions && locations ? 0 : -ENOMEM;

	if (!err)
		err = number_mappings(checking, mappings);
	if (!err)
		err = number_functions(checking, functions);
	if (!err)
		err = number_locations(checking, locations, mappings, functions);
	return err ? err : check_samples(checking, locations);
}

int message_check(struct message *message, char *ret_why)
{
	struct checking checking = {message->profile, ret_why};
	int err = check_counts(&checking);

	forget(&message->profile->base);
	if (!err)
		err = check_texts(&checking);
	if (!err)
		err = check_types(&checking);
	return err ? err : number_all(&checking);
}
