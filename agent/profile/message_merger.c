// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/message_merger.h"

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

size_t merger_put(struct message_merger *merger, struct unique *unique, __u64 hash,
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

int64_t merger_put_text(struct message_merger *merger, const char *words)
{
	const size_t length = strlen(words);

	return (int64_t)merger_put(merger, &merger->texts, hash_add(HASH_BEGIN, words, length),
				   words, length + 1);
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
	merger_put_text(merger, ""); /* that is number 0 */
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
