// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/foreign.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/take/labels.h"
#include "profile/take/process_context.h"

/* In the text of a set: behind a key, and behind a value, which have none (foreign.h). */
#define KEY_END   '\x1f'
#define VALUE_END '\x1e'
#define SET_BYTES 64 /* that a set takes beside its text, or less */

struct label {
	char key[FOREIGN_GROWTH * PROFILE_LABEL_KEY], value[FOREIGN_GROWTH * PROFILE_LABEL_VALUE];
	__u8 source;
};

/* Labels of one sample, on their way into a set. */
struct merging {
	struct labels *labels;
	const struct registered *registered;
	const struct process_context *context;
	struct label label[PROFILE_LABELS_MAX];
	size_t count;
	bool overflows;
};

/* Remove an incomplete character at the end. Returns whether there was one. */
static bool end_at_character(char *text)
{
	size_t length = strlen(text), begin = length;

	while (begin && ((unsigned char)text[begin - 1] & 0xc0) == 0x80)
		begin--;
	if (!begin || (unsigned char)text[begin - 1] < 0xc0 || utf8_length(text + begin - 1))
		return false;
	text[begin - 1] = '\0';
	return true;
}

/* A text that was cut may end with an incomplete character, which is removed. */
static void bring_in(char *to, size_t size, const char *from, bool is_cut)
{
	char whole[PROFILE_LABEL_VALUE];

	text_copy(whole, sizeof(whole), from);
	if (is_cut)
		end_at_character(whole);
	foreign_copy(to, size, whole);
}

/* The key's name; empty: it has none. */
static void read_key(const struct merging *merging, const struct profile_label *raw,
		     struct label *label)
{
	const struct process_context *context = merging->context;
	const char *key = raw->key;

	if (raw->source == PROFILE_SOURCE_REGISTERED && raw->number < merging->registered->count)
		key = merging->registered->entry[raw->number].label;
	if (raw->source == PROFILE_SOURCE_OTEL && context && context->knows_schema &&
	    raw->number < PROCESS_CONTEXT_KEYS)
		key = context->key[raw->number];
	bring_in(label->key, sizeof(label->key), key, raw->cut);
}

static bool is_number(const struct merging *merging, const struct profile_label *raw)
{
	return raw->source == PROFILE_SOURCE_REGISTERED &&
	       raw->number < merging->registered->count &&
	       !merging->registered->entry[raw->number].is_text;
}

static void read_value(const struct merging *merging, const struct profile_label *raw,
		       struct label *label)
{
	unsigned long long number;

	if (is_number(merging, raw)) {
		memcpy(&number, raw->value, sizeof(number));
		snprintf(label->value, sizeof(label->value), "%llu", number);
		return;
	}
	bring_in(label->value, sizeof(label->value), raw->value, raw->cut);
}

static struct label *find_key(struct merging *merging, const char *key)
{
	for (size_t i = 0; i < merging->count; i++)
		if (!strcmp(merging->label[i].key, key))
			return &merging->label[i];
	return NULL;
}

/*
 * The first source that has a key decides. Within one the first label does, but in OTEP 4947's
 * record the last one.
 */
static void merge(struct merging *merging, const struct label *label)
{
	struct label *same = find_key(merging, label->key);

	if (!same && merging->count == PROFILE_LABELS_MAX)
		merging->overflows = true;
	else if (!same)
		merging->label[merging->count++] = *label;
	else if (same->source != label->source)
		merging->labels->conflicts += strcmp(same->value, label->value) != 0;
	else if (label->source == PROFILE_SOURCE_OTEL)
		*same = *label;
}

static void take(struct merging *merging, const struct profile_label *raw)
{
	struct label label = {.source = raw->source};

	read_key(merging, raw, &label);
	read_value(merging, raw, &label);
	if (!*label.key) {
		merging->labels->unnamed++;
		return;
	}
	merging->labels->cut += raw->cut;
	merge(merging, &label);
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct label *)a)->key, ((const struct label *)b)->key);
}

/* The number of a set with this text; 0: it is a new one that there is no room for. */
static long number_of(struct labels *labels, const char *text, size_t *room)
{
	const size_t size = SET_BYTES + strlen(text);
	long number = strings_find(&labels->sets, text);

	if (number < 0 && size <= *room) {
		number = strings_add(&labels->sets, text);
		*room -= number < 0 ? 0 : size;
	}
	labels->crowded += number < 0;
	return number > 0 ? number : 0;
}

/* The set as a text, in the order of keys. */
static long intern(struct merging *merging, size_t *room)
{
	char text[PROFILE_LABELS_MAX * sizeof(struct label) + 1];
	size_t used = 0;

	qsort(merging->label, merging->count, sizeof(merging->label[0]), by_key);
	for (size_t i = 0; i < merging->count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%c%s%c",
					 merging->label[i].key, KEY_END, merging->label[i].value,
					 VALUE_END);
	return number_of(merging->labels, text, room);
}

long labels_of(struct labels *labels, const struct registered *registered,
	       const struct process_context *context, const struct profile_sample *sample,
	       size_t *room)
{
	struct merging merging = {.labels = labels, .registered = registered, .context = context};
	size_t word =
	    (size_t)sample->kernel_count + sample->user_count + 2 * (size_t)sample->named_count;

	if (!sample->label_count)
		return 0;
	for (size_t i = 0; i < sample->label_count; i++, word += PROFILE_LABEL_WORDS)
		take(&merging, (const void *)(sample->frame + word));
	labels->left_out += merging.overflows || sample->labels_left_out;
	return merging.count ? intern(&merging, room) : 0;
}

void labels_free(struct labels *labels)
{
	unique_free_all(&labels->sets);
}

int labels_each(const struct labels *labels, long set,
		int (*visit)(const char *key, const char *value, void *data), void *data)
{
	_cleanup_free_ char *copy = set ? strdup(labels->sets.text[set]) : NULL;
	char *at = copy, *value, *end;
	int result = 0;

	while (!result && at && *at) {
		value = strchr(at, KEY_END);
		end = value ? strchr(value, VALUE_END) : NULL;
		if (!end)
			break;
		*value++ = *end = '\0';
		result = visit(at, value, data);
		at = end + 1;
	}
	return result;
}
