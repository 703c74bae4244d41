// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/unique.h"

#define FIRST_ROOM 64

struct unique_slot {
	__u32 hash;   /* both halves of it */
	__u32 number; /* plus 1; 0: it is free */
};

static __u32 fold(__u64 hash)
{
	return (__u32)(hash ^ hash >> 32);
}

/* From the slot of a hash on, the first that is free. */
static struct unique_slot *free_slot(const struct unique *unique, __u32 hash)
{
	size_t at = hash % unique->slots;

	while (unique->slot[at].number)
		at = (at + 1) % unique->slots;
	return &unique->slot[at];
}

/* From the slot of a hash on, the first that is free or has what is the same as a key. */
static struct unique_slot *find(const struct unique *unique, __u32 hash, const void *key)
{
	size_t at = hash % unique->slots;
	struct unique_slot *slot = &unique->slot[at];

	while (slot->number &&
	       (slot->hash != hash || !unique->same(unique->item[slot->number - 1], key))) {
		at = (at + 1) % unique->slots;
		slot = &unique->slot[at];
	}
	return slot;
}

/* Room for one more: for twice as many where there is none, in twice as many slots as these. */
static int make_room(struct unique *unique)
{
	const size_t room = unique->room ? 2 * unique->room : FIRST_ROOM;
	const struct unique before = *unique;
	void **items;

	if (unique->count < unique->room)
		return 0;
	items = reallocarray(unique->item, room, sizeof(*items));
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
			*free_slot(unique, before.slot[i].hash) = before.slot[i];
	free(before.slot);
	return 0;
}

/* Returns the number. */
static long put(struct unique *unique, struct unique_slot *slot, __u32 hash, const void *item)
{
	unique->item[unique->count++] = (void *)item;
	*slot = (struct unique_slot){hash, (__u32)unique->count};
	return (long)unique->count - 1;
}

long unique_append(struct unique *unique, __u64 hash, const void *item)
{
	if (make_room(unique))
		return -1;
	return put(unique, free_slot(unique, fold(hash)), fold(hash), item);
}

long unique_add(struct unique *unique, __u64 hash, const void *item)
{
	struct unique_slot *slot;

	if (make_room(unique))
		return -1;
	slot = find(unique, fold(hash), item);
	return slot->number ? (long)slot->number - 1 : put(unique, slot, fold(hash), item);
}

void *unique_find(const struct unique *unique, __u64 hash, const void *key)
{
	const struct unique_slot *slot = unique->slots ? find(unique, fold(hash), key) : NULL;

	return slot && slot->number ? unique->item[slot->number - 1] : NULL;
}

void unique_free(struct unique *unique)
{
	free(unique->item);
	free(unique->slot);
	*unique = (struct unique){.same = unique->same};
}

void unique_free_all(struct unique *unique)
{
	for (size_t i = 0; i < unique->count; i++)
		free(unique->item[i]);
	unique_free(unique);
}

static bool same_text(const void *item, const void *key)
{
	return !strcmp(item, key);
}

static long add_text(struct unique *strings, const char *text)
{
	const __u64 hash = hash_text(HASH_BEGIN, text);
	struct unique_slot *slot;
	char *copy;

	if (make_room(strings))
		return -1;
	slot = find(strings, fold(hash), text);
	if (slot->number)
		return (long)slot->number - 1;
	copy = strdup(text);
	return copy ? put(strings, slot, fold(hash), copy) : -1;
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
	if (!strings->count)
		return -1;
	return (long)find(strings, fold(hash_text(HASH_BEGIN, text)), text)->number - 1;
}
