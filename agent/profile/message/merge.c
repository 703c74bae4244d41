// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "base/unique.h"
#include "profile/message/counts.h"
#include "profile/message/merge.h"
#include "profile/message/pprof_types.h"

#define MERGER_TYPES_MAX 32

/*
 * An item as a list of numbers: references to other items are their indexes plus 1, or 0 for none;
 * references to texts are their indexes.
 */
struct words {
	size_t count;
	uint64_t word[];
};

/* How the numbers stand in words. */
enum { MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE, MAPPING_BUILD, MAPPING_HAS };
enum { HAS_FUNCTIONS = 1, HAS_FILENAMES = 2, HAS_LINES = 4, HAS_INLINED = 8 };
enum { FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };
enum { LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_FOLDED, LOCATION_LINES /* function, line */ };
enum { LABEL_KEY, LABEL_TEXT, LABEL_NUMBER, LABEL_UNIT };
enum { SAMPLE_LOCATIONS /* how many; these, and then the labels */ };

struct merged_type {
	int64_t type, unit; /* texts */
	int64_t *value;     /* of each sample, by its place */
};

struct message_merger {
	struct arena arena;
	struct unique texts;                                  /* char */
	struct unique mappings, functions, locations, labels; /* struct words */
	struct unique samples, comments;                      /* struct words */
	struct unique counts;                                 /* struct count */
	struct merged_type type[MERGER_TYPES_MAX];
	size_t types, values_room;         /* of the values of each type */
	__u64 total;                       /* of all values */
	Perftools__Profiles__Profile head; /* numbers, and those of texts */
	int64_t period_type, period_unit;
	bool has_period, failed;
};

static bool same_text(const void *one, const void *other)
{
	return !strcmp(one, other);
}

static bool same_words(const void *one, const void *other)
{
	const struct words *first = one, *second = other;

	return first->count == second->count &&
	       !memcmp(first->word, second->word, first->count * sizeof(first->word[0]));
}

static bool same_count(const void *one, const void *other)
{
	const struct count *first = one, *second = other;

	return first->kind == second->kind && !strcmp(first->of, second->of);
}

/*
 * The number of what is the same as `item` among those there are, a copy of it if it is new. 0 and
 * `failed`: no memory.
 */
static size_t put(struct message_merger *merger, struct unique *unique, __u64 hash,
		  const void *item, size_t size)
{
	const size_t before = unique->count;
	const long number = unique_add(unique, hash, item);
	void *copy;

	if (number >= 0 && unique->count == before)
		return (size_t)number;
	copy = number < 0 ? NULL : arena_alloc(&merger->arena, size);
	if (!copy) {
		merger->failed = true;
		return 0;
	}
	memcpy(copy, item, size);
	unique->item[number] = copy;
	return (size_t)number;
}

static int64_t put_text(struct message_merger *merger, const char *words)
{
	const size_t length = strlen(words);

	return (int64_t)put(merger, &merger->texts, hash_add(HASH_BEGIN, words, length), words,
			    length + 1);
}

struct message_merger *message_merger_new(void)
{
	struct message_merger *merger = calloc(1, sizeof(*merger));
	struct unique *words[] = {&merger->mappings, &merger->functions, &merger->locations,
				  &merger->labels,   &merger->samples,   &merger->comments};

	if (!merger)
		return NULL;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		words[i]->same = same_words;
	merger->texts.same = same_text;
	merger->counts.same = same_count;
	put_text(merger, ""); /* that is number 0 */
	return merger;
}

void message_merger_free(struct message_merger *merger)
{
	if (!merger)
		return;
	unique_free(&merger->texts);
	unique_free(&merger->mappings);
	unique_free(&merger->functions);
	unique_free(&merger->locations);
	unique_free(&merger->labels);
	unique_free(&merger->samples);
	unique_free(&merger->comments);
	unique_free(&merger->counts);
	for (size_t i = 0; i < merger->types; i++)
		free(merger->type[i].value);
	arena_free(&merger->arena);
	free(merger);
}

size_t message_merger_bytes(const struct message_merger *merger)
{
	return merger->arena.bytes + merger->samples.room * (sizeof(Perftools__Profiles__Sample) +
							     (merger->types + 2) * sizeof(int64_t));
}

/* A message that is being added, and what its numbers become in the merger. */
struct adding {
	struct message_merger *merger;
	const struct message *from;
	int64_t *text;                           /* plus 1; 0: not asked for yet */
	uint64_t *mapping, *function, *location; /* by place, plus 1 */
	size_t type[MERGER_TYPES_MAX];
	struct words *words; /* of the thing that is being put together */
	size_t room;
};

static uint64_t text(struct adding *adding, int64_t number)
{
	int64_t *known = &adding->text[number];

	if (!*known)
		*known = 1 + put_text(adding->merger, message_text(adding->from, number));
	return (uint64_t)(*known - 1);
}

static void begin(struct adding *adding)
{
	adding->words->count = 0;
}

static void say(struct adding *adding, uint64_t word)
{
	struct words *words = adding->words;

	if (words->count == adding->room) {
		words = realloc(words, sizeof(*words) + 2 * adding->room * sizeof(word));
		if (!words) {
			adding->merger->failed = true;
			return;
		}
		adding->words = words;
		adding->room *= 2;
	}
	words->word[words->count++] = word;
}

/* End the item that was put together: its index plus 1. */
static uint64_t end(struct adding *adding, struct unique *unique)
{
	const struct words *words = adding->words;
	const size_t bytes = words->count * sizeof(words->word[0]);

	if (adding->merger->failed)
		return 0;
	return 1 + put(adding->merger, unique, hash_add(HASH_BEGIN, words->word, bytes), words,
		       sizeof(*words) + bytes);
}

static uint64_t add_mapping(struct adding *adding, const Mapping *mapping)
{
	begin(adding);
	say(adding, mapping->memory_start);
	say(adding, mapping->memory_limit);
	say(adding, mapping->file_offset);
	say(adding, text(adding, mapping->filename));
	say(adding, text(adding, mapping->build_id));
	say(adding, (mapping->has_functions ? HAS_FUNCTIONS : 0) |
			(mapping->has_filenames ? HAS_FILENAMES : 0) |
			(mapping->has_line_numbers ? HAS_LINES : 0) |
			(mapping->has_inline_frames ? HAS_INLINED : 0));
	return end(adding, &adding->merger->mappings);
}

static uint64_t add_function(struct adding *adding, const Function *function)
{
	begin(adding);
	say(adding, text(adding, function->name));
	say(adding, text(adding, function->system_name));
	say(adding, text(adding, function->filename));
	say(adding, (uint64_t)function->start_line);
	return end(adding, &adding->merger->functions);
}

static uint64_t add_location(struct adding *adding, const Location *location)
{
	begin(adding);
	say(adding, location->mapping_id ? adding->mapping[location->mapping_id - 1] : 0);
	say(adding, location->address);
	say(adding, location->is_folded != 0);
	for (size_t i = 0; i < location->n_line; i++) {
		say(adding, adding->function[location->line[i]->function_id - 1]);
		say(adding, (uint64_t)location->line[i]->line);
	}
	return end(adding, &adding->merger->locations);
}

static uint64_t add_label(struct adding *adding, const Label *label)
{
	begin(adding);
	say(adding, text(adding, label->key));
	say(adding, text(adding, label->str));
	say(adding, (uint64_t)label->num);
	say(adding, text(adding, label->num_unit));
	return end(adding, &adding->merger->labels);
}

/* By key, and then as they came. */
static int compare(const void *a, const void *b, void *data)
{
	const struct unique *labels = data;
	const uint64_t first = *(const uint64_t *)a, second = *(const uint64_t *)b;
	const struct words *one = labels->item[first - 1], *other = labels->item[second - 1];

	if (one->word[LABEL_KEY] != other->word[LABEL_KEY])
		return one->word[LABEL_KEY] < other->word[LABEL_KEY] ? -1 : 1;
	return (first > second) - (first < second);
}

/* In one order, so that the same labels are the same. The caller's to free; NULL: no memory. */
static uint64_t *add_labels(struct adding *adding, const Sample *sample)
{
	struct message_merger *merger = adding->merger;
	uint64_t *labels = calloc(sample->n_label + 1, sizeof(*labels));

	merger->failed = merger->failed || !labels;
	for (size_t i = 0; !merger->failed && i < sample->n_label; i++)
		labels[i] = add_label(adding, sample->label[i]);
	if (!merger->failed)
		qsort_r(labels, sample->n_label, sizeof(*labels), compare, &merger->labels);
	return labels;
}

/* Room for the values of another sample. */
static int make_room(struct message_merger *merger)
{
	const size_t before = merger->values_room, room = merger->samples.room;

	for (size_t i = 0; merger->samples.count > before && i < merger->types; i++) {
		int64_t *more = reallocarray(merger->type[i].value, room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		memset(more + before, 0, (room - before) * sizeof(*more));
		merger->type[i].value = more;
	}
	if (merger->samples.count > before)
		merger->values_room = room;
	return 0;
}

static void add_values(struct adding *adding, const Sample *sample, uint64_t place)
{
	struct message_merger *merger = adding->merger;

	merger->failed = merger->failed || make_room(merger);
	for (size_t i = 0; !merger->failed && i < sample->n_value; i++)
		merger->type[adding->type[i]].value[place] += sample->value[i];
}

static void add_sample(struct adding *adding, const Sample *sample)
{
	uint64_t *labels = add_labels(adding, sample), number;

	begin(adding);
	say(adding, sample->n_location_id);
	for (size_t i = 0; i < sample->n_location_id; i++)
		say(adding, adding->location[sample->location_id[i] - 1]);
	for (size_t i = 0; labels && i < sample->n_label; i++)
		say(adding, labels[i]);
	free(labels);
	number = end(adding, &adding->merger->samples);
	if (number)
		add_values(adding, sample, number - 1);
}

/* The type of the merger for number `number` of the message, which no type before it has. */
static int add_type(struct adding *adding, size_t number)
{
	struct message_merger *merger = adding->merger;
	const ValueType *type = adding->from->profile->sample_type[number];
	const int64_t words[] = {(int64_t)text(adding, type->type),
				 (int64_t)text(adding, type->unit)};
	bool taken[MERGER_TYPES_MAX] = {};
	size_t place = 0;

	for (size_t i = 0; i < number; i++)
		taken[adding->type[i]] = true;
	while (place < merger->types && (taken[place] || merger->type[place].type != words[0] ||
					 merger->type[place].unit != words[1]))
		place++;
	adding->type[number] = place;
	if (place < merger->types)
		return 0;
	merger->type[place] =
	    (struct merged_type){.type = words[0],
				 .unit = words[1],
				 .value = calloc(merger->values_room + 1, sizeof(int64_t))};
	merger->types += merger->type[place].value != NULL;
	return merger->type[place].value ? 0 : -ENOMEM;
}

static void add_count(struct message_merger *merger, const struct count *count)
{
	const size_t length = strlen(count->of);
	const __u64 hash = hash_add(HASH_BEGIN + count->kind, count->of, length);
	const size_t before = merger->counts.count;
	const size_t number = put(merger, &merger->counts, hash, count, sizeof(*count));
	struct count *sum;
	char *of;

	if (merger->failed)
		return;
	sum = merger->counts.item[number];
	if (merger->counts.count == before) {
		sum->count = count_add(sum->count, count->count);
		return;
	}
	of = arena_alloc(&merger->arena, length + 1);
	merger->failed = !of;
	if (of)
		memcpy(of, count->of, length + 1);
	sum->of = of;
}

static void add_comment(struct adding *adding, int64_t number)
{
	struct count count;

	if (!count_parse(message_text(adding->from, number), &count)) {
		add_count(adding->merger, &count);
		return;
	}
	begin(adding);
	say(adding, text(adding, number));
	end(adding, &adding->merger->comments);
}

static int64_t sum_of(int64_t one, int64_t other)
{
	int64_t sum;

	return __builtin_add_overflow(one, other, &sum) ? LLONG_MAX : sum;
}

/* Fields of which there is only one: taken from the first message that has them. */
static void add_head(struct adding *adding)
{
	const Profile *from = adding->from->profile;
	struct message_merger *merger = adding->merger;
	Profile *head = &merger->head;

	if (from->time_nanos && (!head->time_nanos || from->time_nanos < head->time_nanos))
		head->time_nanos = from->time_nanos;
	head->duration_nanos = sum_of(head->duration_nanos, from->duration_nanos);
	if (from->period > head->period)
		head->period = from->period;
	if (!head->default_sample_type)
		head->default_sample_type = (int64_t)text(adding, from->default_sample_type);
	if (!head->drop_frames)
		head->drop_frames = (int64_t)text(adding, from->drop_frames);
	if (!head->keep_frames)
		head->keep_frames = (int64_t)text(adding, from->keep_frames);
	if (!head->doc_url)
		head->doc_url = (int64_t)text(adding, from->doc_url);
	if (!merger->has_period && from->period_type) {
		merger->has_period = true;
		merger->period_type = (int64_t)text(adding, from->period_type->type);
		merger->period_unit = (int64_t)text(adding, from->period_type->unit);
	}
}

/* What samples refer to, from the inside out, and then these. */
static void add_all(struct adding *adding)
{
	const Profile *from = adding->from->profile;
	struct message_merger *merger = adding->merger;

	for (size_t i = 0; !merger->failed && i < from->n_sample_type; i++)
		merger->failed = add_type(adding, i) != 0;
	for (size_t i = 0; !merger->failed && i < from->n_mapping; i++)
		adding->mapping[i] = add_mapping(adding, from->mapping[i]);
	for (size_t i = 0; !merger->failed && i < from->n_function; i++)
		adding->function[i] = add_function(adding, from->function[i]);
	for (size_t i = 0; !merger->failed && i < from->n_location; i++)
		adding->location[i] = add_location(adding, from->location[i]);
	for (size_t i = 0; !merger->failed && i < from->n_sample; i++)
		add_sample(adding, from->sample[i]);
	for (size_t i = 0; !merger->failed && i < from->n_comment; i++)
		add_comment(adding, from->comment[i]);
	if (!merger->failed)
		add_head(adding);
}

/* Would sums still be numbers? */
static bool is_too_large(const struct message_merger *merger, const Profile *from, __u64 *ret_total)
{
	__u64 total = merger->total;

	for (size_t i = 0; i < from->n_sample; i++)
		for (size_t k = 0; k < from->sample[i]->n_value; k++) {
			const __u64 value = (__u64)from->sample[i]->value[k];

			if (value > LLONG_MAX - total)
				return true;
			total += value;
		}
	*ret_total = total;
	return from->n_sample_type + merger->types > MERGER_TYPES_MAX;
}

int message_merger_add(struct message_merger *merger, const struct message *from)
{
	const Profile *profile = from->profile;
	struct adding adding = {.merger = merger, .from = from, .room = 64};
	__u64 total;

	if (is_too_large(merger, profile, &total))
		return -EOVERFLOW;
	adding.text = calloc(profile->n_string_table + 1, sizeof(*adding.text));
	adding.mapping = calloc(profile->n_mapping + 1, sizeof(*adding.mapping));
	adding.function = calloc(profile->n_function + 1, sizeof(*adding.function));
	adding.location = calloc(profile->n_location + 1, sizeof(*adding.location));
	adding.words = calloc(1, sizeof(*adding.words) + adding.room * sizeof(uint64_t));
	if (!adding.text || !adding.mapping || !adding.function || !adding.location ||
	    !adding.words)
		merger->failed = true;
	else
		add_all(&adding);
	merger->total = total;
	free(adding.text);
	free(adding.mapping);
	free(adding.function);
	free(adding.location);
	free(adding.words);
	return merger->failed ? -ENOMEM : 0;
}

int message_merge(struct message *into, const struct message *from)
{
	struct message_merger *merger = message_merger_new();
	struct message merged;
	int err = merger ? 0 : -ENOMEM;

	if (!err && into->profile)
		err = message_merger_add(merger, into);
	if (!err)
		err = message_merger_add(merger, from);
	if (!err)
		err = message_merger_end(merger, &merged);
	if (!err) {
		message_free(into);
		*into = merged;
	}
	message_merger_free(merger);
	return err;
}

/* The message that a merger has gathered. */

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
