// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/list.h"

#define FIRST_ROOM 16

/* How much room a list has follows from its length: none is less than the next power of two. */
static bool is_full(size_t count)
{
	return !count || (count >= FIRST_ROOM && !(count & (count - 1)));
}

void *list_add(void *list, size_t *count, size_t size)
{
	void *entries;

	memcpy(&entries, list, sizeof(entries));
	if (is_full(*count)) {
		entries = reallocarray(entries, *count ? 2 * *count : FIRST_ROOM, size);
		if (!entries)
			return NULL;
		memcpy(list, &entries, sizeof(entries));
	}
	return (char *)entries + (*count)++ * size;
}
