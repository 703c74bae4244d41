/* SPDX-License-Identifier: Apache-2.0 */
/* Lists: arrays of entries of one size, which grow, and which are searched where they are sorted.
 */
#ifndef CTXPROP_LIST_H
#define CTXPROP_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Room for one more entry in a list that has `count` entries of `size` bytes and room for `*room`:
 * a full one moves, and has room for twice as many. Returns the list, which the caller keeps in
 * place of the one he gave (NULL, room 0: none yet) and frees by free(3); or NULL, no memory: then
 * what he gave stays as it was.
 */
void *list_make_room(void *list, size_t count, size_t *room, size_t size);

/*
 * How many entries at the beginning of a list something holds for, in log(count) steps: where it
 * does not hold for an entry, it must not hold for any behind it. In a list sorted by start, for
 * "starts at or before the key", the last of these is at [result - 1] and a new one belongs at
 * [result].
 */
static inline size_t list_count_while(const void *list, size_t count, size_t size,
				      bool (*holds)(const void *entry, const void *key),
				      const void *key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (holds((const char *)list + middle * size, key))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
