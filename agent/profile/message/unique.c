// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/message/unique.h"

#define FIRST_ROOM 64

struct unique_slot {
	__u64 hash;
	size_t number; /* plus 1; 0: it is free */
};

/* Where a thing is, or where it belongs. NULL in `item`: it is in none. */
static struct unique_slot *find(const struct unique *unique, __u64 hash, const void *item)
{
	size_t at = hash % unique->slots;
	struct unique_slot *slot = &unique->slot[at];

	while (slot->number && (!item || slot->hash != hash ||
				!unique->same(unique->item[slot->number - 1], item))) {
		at = (at + 1) % unique->slots;
		slot = &unique->slot[at];
	}
	return slot;
}

/* Room for twice as many, in twice as many slots as these. Returns 0 or -1. */
static int grow(struct unique *unique)
{
	const size_t room = unique->room ? 2 * unique->room : FIRST_ROOM;
	void **items = reallocarray(unique->item, room, sizeof(*items));
	const struct unique before = *unique;

	if (!items)
		return -1;
	unique->item = items;
	unique->slot = calloc(2 * room, sizeof(*unique->slot));
	if (!unique->slot) {
		unique->slot = before.slot;
		return -1;
	}
	unique->slots = 2 * room;
	unique->room = room;
	for (size_t i = 0; i < before.slots; i++)
		if (before.slot[i].number)
			*find(unique, before.slot[i].hash, NULL) = before.slot[i];
	free(before.slot);
	return 0;
}

long unique_add(struct unique *unique, __u64 hash, const void *item)
{
	struct unique_slot *slot;

	if (unique->count == unique->room && grow(unique))
		return -1;
	slot = find(unique, hash, item);
	if (!slot->number) {
		unique->item[unique->count++] = (void *)item;
		*slot = (struct unique_slot){hash, unique->count};
	}
	return (long)slot->number - 1;
}

void unique_free(struct unique *unique)
{
	free(unique->item);
	free(unique->slot);
	*unique = (struct unique){.same = unique->same};
}

static bool same_text(const void *one, const void *other)
{
	return !strcmp(one, other);
}

static long add_text(struct unique *strings, const char *text)
{
	const __u64 hash = hash_add(HASH_BEGIN, text, strlen(text));
	struct unique_slot *slot;
	char *copy;

	if (strings->count == strings->room && grow(strings))
		return -1;
	slot = find(strings, hash, text);
	if (slot->number)
		return (long)slot->number - 1;
	copy = strdup(text);
	if (!copy)
		return -1;
	strings->text[strings->count++] = copy;
	*slot = (struct unique_slot){hash, strings->count};
	return (long)strings->count - 1;
}

long strings_add(struct unique *strings, const char *text)
{
	strings->same = same_text;
	if (!strings->count && add_text(strings, "") < 0)
		return -1;
	return add_text(strings, text);
}

long strings_find(const struct unique *strings, const char *text)
{
	const struct unique_slot *slot;

	if (!strings->count)
		return -1;
	slot = find(strings, hash_add(HASH_BEGIN, text, strlen(text)), text);
	return (long)slot->number - 1;
}

void strings_free(struct unique *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->text[i]);
	unique_free(strings);
}
