/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table: things, each once, which have numbers from 0 on in the order in which they came. */
#ifndef CTXPROP_UNIQUE_H
#define CTXPROP_UNIQUE_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

/* All zero but `same` is an empty one. */
struct unique {
	union {
		void **item; /* by number; the memory of each is the caller's */
		char **text; /* and where all are texts (strings_add()), it is not */
	};
	size_t count, room;
	struct unique_slot *slot;
	size_t slots;
	/* Is an item the one that a key of the same hash stands for? */
	bool (*same)(const void *item, const void *key);
};

/*
 * The number of the item that is the same as `item`; if there is none, `item` is put in as the
 * last one. -1: no memory.
 */
long unique_add(struct unique *unique, __u64 hash, const void *item);

/* Put an item in as the last one, whatever is there. Its number, or -1: no memory. */
long unique_append(struct unique *unique, __u64 hash, const void *item);

/* The first item that is the same as `key`, which may be of another type. NULL: there is none. */
void *unique_find(const struct unique *unique, __u64 hash, const void *key);

/* Free the table, which is empty then; and its items, by free(3). */
void unique_free(struct unique *unique);
void unique_free_all(struct unique *unique);

/*
 * Texts, copied; number 0 is the empty one. All zero is an empty table. The number of a text; -1:
 * no memory. unique_free_all() frees them.
 */
long strings_add(struct unique *strings, const char *text);

/* The number of a text that is there; -1: it is not. */
long strings_find(const struct unique *strings, const char *text);

#endif
