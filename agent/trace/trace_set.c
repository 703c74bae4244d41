// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "trace/trace_set.h"

#define SLOTS 256 /* at first */

static const unsigned char nothing[TRACE_ID_SIZE];

/* The slot that has an id, or may get it. There is a free one. */
static unsigned char *find(const struct trace_set *set, const void *id)
{
	const __u64 hash = hash_add(HASH_BEGIN, id, TRACE_ID_SIZE);
	size_t slot = (hash ^ hash >> 32) & (set->slots - 1);

	while (memcmp(set->slot[slot], id, TRACE_ID_SIZE) != 0 &&
	       memcmp(set->slot[slot], nothing, TRACE_ID_SIZE) != 0)
		slot = (slot + 1) & (set->slots - 1);
	return set->slot[slot];
}

/* Room for one more: half of the slots are free. */
static int grow(struct trace_set *set)
{
	struct trace_set larger = {.slots = set->slots ? set->slots * 2 : SLOTS,
				   .count = set->count};

	if (set->count < set->slots / 2)
		return 0;
	larger.slot = calloc(larger.slots, sizeof(*larger.slot));
	if (!larger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < set->slots; i++)
		memcpy(find(&larger, set->slot[i]), set->slot[i], TRACE_ID_SIZE);
	free(set->slot);
	*set = larger;
	return 0;
}

int trace_set_add(struct trace_set *set, const void *id)
{
	int err = grow(set);
	unsigned char *slot;

	if (err)
		return err;
	slot = find(set, id);
	if (!memcmp(slot, id, TRACE_ID_SIZE))
		return -EEXIST;
	memcpy(slot, id, TRACE_ID_SIZE);
	set->count++;
	return 0;
}

bool trace_set_has(const struct trace_set *set, const void *id)
{
	return set->slots && !memcmp(find(set, id), id, TRACE_ID_SIZE);
}

void trace_set_free(struct trace_set *set)
{
	free(set->slot);
	*set = (struct trace_set){};
}
