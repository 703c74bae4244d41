/* SPDX-License-Identifier: Apache-2.0 */
#include "ids.h"

#include <stdio.h>
#include <stdlib.h>

static bool put(struct ids *ids, uint64_t id)
{
	size_t at = (id * 0x9e3779b97f4a7c15ull >> 32) & (ids->capacity - 1);

	while (ids->slots[at] && ids->slots[at] != id)
		at = (at + 1) & (ids->capacity - 1);
	if (ids->slots[at])
		return false;
	ids->slots[at] = id;
	ids->count++;
	return true;
}

static void grow(struct ids *ids)
{
	struct ids old = *ids;

	ids->capacity = old.capacity ? old.capacity * 2 : 4096;
	ids->count = 0;
	ids->slots = calloc(ids->capacity, sizeof(*ids->slots));
	if (!ids->slots) {
		fprintf(stderr, "out of memory: no room for %zu ids\n", ids->capacity);
		exit(2);
	}
	for (size_t i = 0; i < old.capacity; i++) {
		if (old.slots[i])
			put(ids, old.slots[i]);
	}
	free(old.slots);
}

bool ids_add(struct ids *ids, uint64_t id)
{
	if (ids->count * 2 >= ids->capacity)
		grow(ids);
	return put(ids, id);
}

void ids_free(struct ids *ids)
{
	free(ids->slots);
	*ids = (struct ids){0};
}
