/* SPDX-License-Identifier: Apache-2.0 */
/* Things, each once, by number from 0 on. */
#ifndef CTXPROP_PROFILE_MESSAGE_UNIQUE_H
#define CTXPROP_PROFILE_MESSAGE_UNIQUE_H

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
	bool (*same)(const void *one, const void *other); /* of equal hashes */
};

/*
 * The number of the thing that is the same as `item`; if there is none, `item` is put in as the
 * last one. -1: no memory.
 */
long unique_add(struct unique *unique, __u64 hash, const void *item);
void unique_free(struct unique *unique);

/*
 * Texts, copied; number 0 is the empty one. All zero is an empty table. The number of a text; -1:
 * no memory.
 */
long strings_add(struct unique *strings, const char *text);

/* The number of a text that is there; -1: it is not. */
long strings_find(const struct unique *strings, const char *text);
void strings_free(struct unique *strings);

#endif
