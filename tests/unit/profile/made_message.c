// SPDX-License-Identifier: Apache-2.0
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "made_message.h"
#include "profile/message/pprof_types.h"

#define LINE_MAX_BYTES 512

static void *take(struct message *message, size_t size)
{
	void *memory = arena_alloc(&message->arena, size);

	assert_non_null(memory);
	return memory;
}

static ValueType *type(struct message *message, const char *name, const char *unit)
{
	ValueType *made = take(message, sizeof(*made));

	perftools__profiles__value_type__init(made);
	made->type = message_add_text(message, name);
	made->unit = message_add_text(message, unit);
	return made;
}

struct message made_message(int64_t period_ns, bool waits)
{
	struct message message = {};
	Profile *profile = take(&message, sizeof(*profile));

	perftools__profiles__profile__init(profile);
	message.profile = profile;
	profile->string_table = take(&message, sizeof(char *));
	profile->string_table[0] = take(&message, 1);
	profile->n_string_table = 1;
	profile->sample_type = take(&message, 3 * sizeof(ValueType *));
	profile->sample_type[0] = type(&message, "samples", "count");
	profile->sample_type[1] = type(&message, "cpu", "nanoseconds");
	profile->sample_type[2] = type(&message, "offcpu", "nanoseconds");
	profile->n_sample_type = waits ? 3 : 2;
	profile->period_type = type(&message, "cpu", "nanoseconds");
	profile->period = period_ns;
	profile->default_sample_type = message_add_text(&message, "cpu");
	profile->sample = take(&message, MADE_MAX * sizeof(Sample *));
	profile->location = take(&message, MADE_MAX * sizeof(Location *));
	profile->function = take(&message, MADE_MAX * sizeof(Function *));
	profile->comment = take(&message, MADE_MAX * sizeof(int64_t));
	return message;
}

/* A function and its location have the same place. */
static uint64_t location(struct message *message, const char *name)
{
	Profile *profile = message->profile;
	const int64_t text = message_add_text(message, name);
	Function *function = take(message, sizeof(*function));
	Location *place = take(message, sizeof(*place));
	Line *line = take(message, sizeof(*line));

	for (size_t i = 0; i < profile->n_function; i++)
		if (profile->function[i]->name == text)
			return i + 1;
	assert_true(profile->n_function < MADE_MAX);
	perftools__profiles__function__init(function);
	perftools__profiles__location__init(place);
	perftools__profiles__line__init(line);
	profile->function[profile->n_function++] = function;
	profile->location[profile->n_location++] = place;
	function->id = line->function_id = place->id = profile->n_function;
	function->name = text;
	place->line = take(message, sizeof(Line *));
	place->line[place->n_line++] = line;
	return place->id;
}

static void add_stack(struct message *message, Sample *sample, const char *stack)
{
	char *words = strdup(stack), *rest = words, *word;

	assert_non_null(words);
	sample->location_id = take(message, MADE_MAX * sizeof(uint64_t));
	while ((word = strsep(&rest, ";")) && *word) {
		memmove(sample->location_id + 1, sample->location_id,
			sample->n_location_id * sizeof(uint64_t));
		sample->location_id[0] = location(message, word);
		sample->n_location_id++;
	}
	free(words);
}

static void add_labels(struct message *message, Sample *sample, const char *labels)
{
	char *words = strdup(labels), *rest = words, *word;

	assert_non_null(words);
	sample->label = take(message, MADE_MAX * sizeof(Label *));
	while ((word = strsep(&rest, ";")) && *word) {
		Label *label = take(message, sizeof(*label));
		char *value = strchr(word, '=');

		assert_non_null(value);
		*value++ = '\0';
		perftools__profiles__label__init(label);
		label->key = message_add_text(message, word);
		if (isdigit((unsigned char)*value))
			label->num = atoll(value);
		else
			label->str = message_add_text(message, value);
		sample->label[sample->n_label++] = label;
	}
	free(words);
}

int64_t *made_sample(struct message *message, const char *stack, const char *labels, int64_t count,
		     int64_t waited_ns)
{
	Profile *profile = message->profile;
	Sample *sample = take(message, sizeof(*sample));

	assert_true(profile->n_sample < MADE_MAX);
	perftools__profiles__sample__init(sample);
	add_stack(message, sample, stack);
	add_labels(message, sample, labels);
	sample->n_value = profile->n_sample_type;
	sample->value = take(message, 3 * sizeof(int64_t));
	sample->value[0] = count;
	sample->value[1] = count * profile->period;
	sample->value[2] = waited_ns;
	profile->sample[profile->n_sample++] = sample;
	return sample->value;
}

void made_comment(struct message *message, const char *text)
{
	Profile *profile = message->profile;

	assert_true(profile->n_comment < MADE_MAX);
	profile->comment[profile->n_comment++] = message_add_text(message, text);
}

static int compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void print_sample(const struct message *message, const Sample *sample, char *line)
{
	FILE *out = fmemopen(line, LINE_MAX_BYTES, "w");

	assert_non_null(out);
	for (size_t i = sample->n_location_id; i > 0; i--)
		fprintf(
		    out, "%s%s", i == sample->n_location_id ? "" : ";",
		    message_text(message,
				 message_function(message, sample->location_id[i - 1], 0)->name));
	for (size_t i = 0; i < sample->n_label; i++) {
		const Label *label = sample->label[i];

		fprintf(out, " %s=", message_text(message, label->key));
		if (label->str)
			fputs(message_text(message, label->str), out);
		else
			fprintf(out, "%lld", (long long)label->num);
	}
	for (size_t i = 0; i < sample->n_value; i++)
		fprintf(out, " %lld", (long long)sample->value[i]);
	fputc('\n', out);
	assert_int_equal(fclose(out), 0);
}

char *made_lines(const struct message *message)
{
	const size_t count = message->profile->n_sample;
	char(*lines)[LINE_MAX_BYTES] = calloc(count + 1, sizeof(*lines));
	char *text = calloc(count + 1, sizeof(*lines));

	assert_non_null(lines);
	assert_non_null(text);
	for (size_t i = 0; i < count; i++)
		print_sample(message, message->profile->sample[i], lines[i]);
	qsort(lines, count, sizeof(*lines), compare);
	for (size_t i = 0; i < count; i++)
		strcat(text, lines[i]);
	free(lines);
	return text;
}

struct message made_again(const struct message *message)
{
	char why[MESSAGE_WHY_MAX], *bytes = NULL;
	struct message again;
	size_t size = 0;
	FILE *out = open_memstream(&bytes, &size);

	assert_non_null(out);
	assert_int_equal(message_write(message, out), 0);
	fclose(out);
	if (message_parse((const __u8 *)bytes, size, &again, why))
		fail_msg("%s", why);
	free(bytes);
	return again;
}
