// SPDX-License-Identifier: Apache-2.0
/* The message that a merger has gathered. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "profile/message_merger.h"
#include "profile/pprof_types.h"

static void *take(struct message_merger *merger, size_t size)
{
	void *memory = arena_alloc(&merger->arena, size ? size : 1);

	merger->failed = merger->failed || !memory;
	return memory;
}

static const uint64_t *words_of(const struct unique *unique, size_t number)
{
	return ((const struct words *)unique->item[number])->word;
}

static Mapping *mapping_of(struct message_merger *merger, size_t number)
{
	const uint64_t *word = words_of(&merger->mappings, number);
	Mapping *mapping = take(merger, sizeof(*mapping));

	if (!mapping)
		return NULL;
	perftools__profiles__mapping__init(mapping);
	mapping->id = number + 1;
	mapping->memory_start = word[MAPPING_START];
	mapping->memory_limit = word[MAPPING_LIMIT];
	mapping->file_offset = word[MAPPING_OFFSET];
	mapping->filename = (int64_t)word[MAPPING_FILE];
	mapping->build_id = (int64_t)word[MAPPING_BUILD];
	mapping->has_functions = (word[MAPPING_HAS] & HAS_FUNCTIONS) != 0;
	mapping->has_filenames = (word[MAPPING_HAS] & HAS_FILENAMES) != 0;
	mapping->has_line_numbers = (word[MAPPING_HAS] & HAS_LINES) != 0;
	mapping->has_inline_frames = (word[MAPPING_HAS] & HAS_INLINED) != 0;
	return mapping;
}

static Function *function_of(struct message_merger *merger, size_t number)
{
	const uint64_t *word = words_of(&merger->functions, number);
	Function *function = take(merger, sizeof(*function));

	if (!function)
		return NULL;
	perftools__profiles__function__init(function);
	function->id = number + 1;
	function->name = (int64_t)word[FUNCTION_NAME];
	function->system_name = (int64_t)word[FUNCTION_SYSTEM_NAME];
	function->filename = (int64_t)word[FUNCTION_FILE];
	function->start_line = (int64_t)word[FUNCTION_LINE];
	return function;
}

static void add_lines(struct message_merger *merger, Location *location, const uint64_t *word,
		      size_t count)
{
	Line *line = take(merger, count * sizeof(*line));

	location->line = take(merger, count * sizeof(Line *));
	if (!line || !location->line)
		return;
	location->n_line = count;
	for (size_t i = 0; i < count; i++) {
		perftools__profiles__line__init(&line[i]);
		line[i].function_id = word[2 * i];
		line[i].line = (int64_t)word[2 * i + 1];
		location->line[i] = &line[i];
	}
}

static Location *location_of(struct message_merger *merger, size_t number)
{
	const struct words *words = merger->locations.item[number];
	Location *location = take(merger, sizeof(*location));

	if (!location)
		return NULL;
	perftools__profiles__location__init(location);
	location->id = number + 1;
	location->mapping_id = words->word[LOCATION_MAPPING];
	location->address = words->word[LOCATION_ADDRESS];
	location->is_folded = words->word[LOCATION_FOLDED] != 0;
	add_lines(merger, location, words->word + LOCATION_LINES,
		  (words->count - LOCATION_LINES) / 2);
	return location;
}

static Label *label_of(struct message_merger *merger, size_t number)
{
	const uint64_t *word = words_of(&merger->labels, number);
	Label *label = take(merger, sizeof(*label));

	if (!label)
		return NULL;
	perftools__profiles__label__init(label);
	label->key = (int64_t)word[LABEL_KEY];
	label->str = (int64_t)word[LABEL_TEXT];
	label->num = (int64_t)word[LABEL_NUMBER];
	label->num_unit = (int64_t)word[LABEL_UNIT];
	return label;
}

/* Samples that have the same label share it. */
static Sample *sample_of(struct message_merger *merger, size_t number, Label **labels)
{
	struct words *words = merger->samples.item[number];
	const size_t locations = words->word[SAMPLE_LOCATIONS];
	const uint64_t *label = words->word + 1 + locations;
	Sample *sample = take(merger, sizeof(*sample));

	if (!sample)
		return NULL;
	perftools__profiles__sample__init(sample);
	sample->n_location_id = locations;
	sample->location_id = words->word + 1;
	sample->n_label = words->count - 1 - locations;
	sample->label = take(merger, sample->n_label * sizeof(Label *));
	sample->n_value = merger->types;
	sample->value = take(merger, sample->n_value * sizeof(*sample->value));
	if (!sample->label || !sample->value)
		return NULL;
	for (size_t i = 0; i < sample->n_label; i++)
		sample->label[i] = labels[label[i] - 1];
	for (size_t i = 0; i < sample->n_value; i++)
		sample->value[i] = merger->type[i].value[number];
	return sample;
}

static ValueType *type_of(struct message_merger *merger, int64_t type, int64_t unit)
{
	ValueType *value = take(merger, sizeof(*value));

	if (!value)
		return NULL;
	perftools__profiles__value_type__init(value);
	value->type = type;
	value->unit = unit;
	return value;
}

static void add_types(struct message_merger *merger, Profile *profile)
{
	profile->sample_type = take(merger, merger->types * sizeof(ValueType *));
	for (size_t i = 0; !merger->failed && i < merger->types; i++)
		profile->sample_type[i] =
		    type_of(merger, merger->type[i].type, merger->type[i].unit);
	profile->n_sample_type = merger->types;
	if (merger->has_period)
		profile->period_type = type_of(merger, merger->period_type, merger->period_unit);
}

static void add_code(struct message_merger *merger, Profile *profile)
{
	const size_t mappings = merger->mappings.count, functions = merger->functions.count,
		     locations = merger->locations.count;

	profile->mapping = take(merger, mappings * sizeof(Mapping *));
	profile->function = take(merger, functions * sizeof(Function *));
	profile->location = take(merger, locations * sizeof(Location *));
	for (size_t i = 0; !merger->failed && i < mappings; i++)
		profile->mapping[i] = mapping_of(merger, i);
	for (size_t i = 0; !merger->failed && i < functions; i++)
		profile->function[i] = function_of(merger, i);
	for (size_t i = 0; !merger->failed && i < locations; i++)
		profile->location[i] = location_of(merger, i);
	profile->n_mapping = mappings;
	profile->n_function = functions;
	profile->n_location = locations;
}

static void add_samples(struct message_merger *merger, Profile *profile)
{
	const size_t count = merger->samples.count;
	_cleanup_free_ Label **labels = calloc(merger->labels.count + 1, sizeof(Label *));

	profile->sample = take(merger, count * sizeof(Sample *));
	merger->failed = merger->failed || !labels;
	for (size_t i = 0; !merger->failed && i < merger->labels.count; i++)
		labels[i] = label_of(merger, i);
	for (size_t i = 0; !merger->failed && i < count; i++)
		profile->sample[i] = sample_of(merger, i, labels);
	profile->n_sample = count;
}

/* Texts of sums, and the table of all texts, which then ends. */
static void add_texts(struct message_merger *merger, Profile *profile)
{
	const size_t texts = merger->texts.count, comments = merger->comments.count,
		     counts = merger->counts.count;

	profile->string_table = take(merger, (texts + counts) * sizeof(char *));
	profile->comment = take(merger, (comments + counts) * sizeof(int64_t));
	if (merger->failed)
		return;
	memcpy(profile->string_table, merger->texts.item, texts * sizeof(char *));
	for (size_t i = 0; i < comments; i++)
		profile->comment[i] = (int64_t)words_of(&merger->comments, i)[0];
	for (size_t i = 0; !merger->failed && i < counts; i++) {
		_cleanup_free_ char *text = count_text(merger->counts.item[i]);
		const size_t size = text ? strlen(text) + 1 : 0;
		char *copy = take(merger, size);

		merger->failed = merger->failed || !text;
		if (copy && text)
			memcpy(copy, text, size);
		profile->string_table[texts + i] = copy;
		profile->comment[comments + i] = (int64_t)(texts + i);
	}
	profile->n_string_table = texts + counts;
	profile->n_comment = comments + counts;
}

int message_merger_end(struct message_merger *merger, struct message *ret)
{
	Profile *profile = take(merger, sizeof(*profile));

	if (!profile)
		return -ENOMEM;
	perftools__profiles__profile__init(profile);
	profile->time_nanos = merger->head.time_nanos;
	profile->duration_nanos = merger->head.duration_nanos;
	profile->period = merger->head.period;
	profile->default_sample_type = merger->head.default_sample_type;
	profile->drop_frames = merger->head.drop_frames;
	profile->keep_frames = merger->head.keep_frames;
	profile->doc_url = merger->head.doc_url;
	add_types(merger, profile);
	add_code(merger, profile);
	add_samples(merger, profile);
	add_texts(merger, profile);
	if (merger->failed)
		return -ENOMEM;
	*ret = (struct message){.arena = merger->arena, .profile = profile};
	merger->arena = (struct arena){};
	return 0;
}
