// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/message_merger.h"
#include "profile/pprof_types.h"

/* A message that is being added: what its numbers are in the merger. */
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
		*known = 1 + merger_put_text(adding->merger, message_text(adding->from, number));
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

/* The thing that was put together: its place plus 1. */
static uint64_t end(struct adding *adding, struct unique *unique)
{
	const struct words *words = adding->words;
	const size_t bytes = words->count * sizeof(words->word[0]);

	if (adding->merger->failed)
		return 0;
	return 1 + merger_put(adding->merger, unique, hash_add(HASH_BEGIN, words->word, bytes),
			      words, sizeof(*words) + bytes);
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
	const size_t number = merger_put(merger, &merger->counts, hash, count, sizeof(*count));
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

/* What there is once: of the first message that has it. */
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
