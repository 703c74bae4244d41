/* SPDX-License-Identifier: Apache-2.0 */
/* Lists: arrays of entries of one size, which grow, and which are searched where they are sorted.
 */
#ifndef CTXPROP_LIST_H
#define CTXPROP_LIST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Add an entry of `size` bytes at the end of a list: `list` is the address of the pointer to its
 * first entry (NULL: none yet), which changes when the list moves, and *count how many it has. Only
 * this function may make a list longer; free(3) frees it. Returns the new entry, whose contents are
 * undefined; or NULL, no memory: then the list stays as it was.
 */
void *list_add(void *list, size_t *count, size_t size);

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
