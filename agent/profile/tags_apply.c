// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/pprof_types.h"
#include "profile/tags_rule.h"

/* One rule, and what of the message it fits. */
struct applying {
	const struct tag_rule *rule;
	struct message *message;
	bool *function;  /* by place: does it fit? */
	__s64 key, name; /* texts of the message */
};

static void *take(const struct applying *applying, size_t size)
{
	return arena_alloc(&applying->message->arena, size);
}

static bool fits(const struct applying *applying, const Function *function)
{
	const __s64 text = applying->rule->of_file ? function->filename : function->name;

	return !regexec(&applying->rule->expression, message_text(applying->message, text), 0, NULL,
			0);
}

/* Does one of the functions of a location fit? */
static bool location_fits(const struct applying *applying, __u64 location)
{
	const Location *place = applying->message->profile->location[location - 1];

	for (size_t i = 0; i < place->n_line; i++)
		if (applying->function[place->line[i]->function_id - 1])
			return true;
	return false;
}

static bool sample_fits(const struct applying *applying, const Sample *sample)
{
	for (size_t i = 0; i < sample->n_location_id; i++)
		if (location_fits(applying, sample->location_id[i]))
			return true;
	return false;
}

static int drop(const struct applying *applying)
{
	Profile *profile = applying->message->profile;
	size_t count = 0;

	for (size_t i = 0; i < profile->n_sample; i++)
		if (!sample_fits(applying, profile->sample[i]))
			profile->sample[count++] = profile->sample[i];
	profile->n_sample = count;
	return 0;
}

static int tag(const struct applying *applying, Sample *sample)
{
	Label **labels = take(applying, (sample->n_label + 1) * sizeof(Label *));
	Label *label = take(applying, sizeof(*label));

	if (!labels || !label)
		return -ENOMEM;
	perftools__profiles__label__init(label);
	label->key = applying->key;
	label->str = applying->name;
	if (sample->n_label)
		memcpy(labels, sample->label, sample->n_label * sizeof(Label *));
	labels[sample->n_label++] = label;
	sample->label = labels;
	return 0;
}

/* Those that no rule before has given a tag. */
static int match(const struct applying *applying)
{
	const Profile *profile = applying->message->profile;
	int err = 0;

	for (size_t i = 0; !err && i < profile->n_sample; i++)
		if (!*message_label(applying->message, profile->sample[i], "tag") &&
		    sample_fits(applying, profile->sample[i]))
			err = tag(applying, profile->sample[i]);
	return err;
}

/* A table of the message with one entry more, which is the last one. NULL: no memory. */
static void **grow(const struct applying *applying, void *table, size_t *count, size_t size)
{
	void **more = take(applying, (*count + 1) * sizeof(*more));

	if (!more)
		return NULL;
	if (*count)
		memcpy(more, table, *count * sizeof(*more));
	more[*count] = take(applying, size);
	if (!more[*count])
		return NULL;
	++*count;
	return more;
}

/* The function that stands for those that are folded: its number, or 0. */
static __u64 add_function(const struct applying *applying)
{
	Profile *profile = applying->message->profile;
	size_t count = profile->n_function;
	void **table = grow(applying, profile->function, &count, sizeof(Function));
	Function *function = table ? table[count - 1] : NULL;

	if (!function)
		return 0;
	perftools__profiles__function__init(function);
	function->id = count;
	function->name = function->system_name = applying->name;
	profile->function = (Function **)table;
	profile->n_function = count;
	return count;
}

/* The location that stands for them, of the mapping of one of them; 0: no memory. */
static __u64 add_location(const struct applying *applying, __u64 mapping)
{
	Profile *profile = applying->message->profile;
	const __u64 function = add_function(applying);
	size_t count = profile->n_location;
	void **table = grow(applying, profile->location, &count, sizeof(Location));
	Location *location = table ? table[count - 1] : NULL;
	Line *line = take(applying, sizeof(*line));
	Line **lines = take(applying, sizeof(Line *));

	if (!function || !location || !line || !lines)
		return 0;
	perftools__profiles__line__init(line);
	line->function_id = function;
	lines[0] = line;
	perftools__profiles__location__init(location);
	location->id = count;
	location->mapping_id = mapping;
	location->n_line = 1;
	location->line = lines;
	profile->location = (Location **)table;
	profile->n_location = count;
	return count;
}

/* `fold[place]`: it is to be folded. Neighbours of these become `one`. */
static void fold_sample(Sample *sample, const bool *fold, __u64 one)
{
	size_t count = 0;

	for (size_t i = 0; i < sample->n_location_id; i++) {
		const __u64 location = sample->location_id[i];

		if (!fold[location - 1])
			sample->location_id[count++] = location;
		else if (!count || sample->location_id[count - 1] != one)
			sample->location_id[count++] = one;
	}
	sample->n_location_id = count;
}

static int fold(const struct applying *applying)
{
	const Profile *profile = applying->message->profile;
	const size_t locations = profile->n_location;
	_cleanup_free_ bool *folds = calloc(locations + 1, sizeof(*folds));
	__u64 mapping = 0, one;
	bool any = false;

	if (!folds)
		return -ENOMEM;
	for (size_t i = 0; i < locations; i++) {
		folds[i] = location_fits(applying, i + 1);
		mapping = folds[i] && !any ? profile->location[i]->mapping_id : mapping;
		any = any || folds[i];
	}
	if (!any)
		return 0;
	one = add_location(applying, mapping);
	for (size_t i = 0; one && i < profile->n_sample; i++)
		fold_sample(profile->sample[i], folds, one);
	return one ? 0 : -ENOMEM;
}

static int apply(struct message *message, const struct tag_rule *rule)
{
	const Profile *profile = message->profile;
	_cleanup_free_ bool *function = calloc(profile->n_function + 1, sizeof(*function));
	struct applying applying = {.rule = rule, .message = message, .function = function};

	if (!function)
		return -ENOMEM;
	for (size_t i = 0; i < profile->n_function; i++)
		function[i] = fits(&applying, profile->function[i]);
	if (rule->verb == TAG_DROP)
		return drop(&applying);
	applying.name = message_add_text(message, rule->name);
	applying.key = rule->verb == TAG_MATCH ? message_add_text(message, "tag") : 0;
	if (applying.name < 0 || applying.key < 0)
		return -ENOMEM;
	return rule->verb == TAG_MATCH ? match(&applying) : fold(&applying);
}

int tags_apply(const struct tags *tags, struct message *message)
{
	static const enum tag_verb order[] = {TAG_DROP, TAG_MATCH, TAG_FOLD};
	int err = 0;

	for (size_t verb = 0; verb < sizeof(order) / sizeof(order[0]); verb++)
		for (size_t i = 0; !err && i < tags->count; i++)
			if (tags->rule[i].verb == order[verb])
				err = apply(message, &tags->rule[i]);
	return err;
}
