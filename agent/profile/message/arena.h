/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is freed all at once. */
#ifndef CTXPROP_PROFILE_MESSAGE_ARENA_H
#define CTXPROP_PROFILE_MESSAGE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *block; /* the newest; NULL: none */
	size_t bytes;              /* of all blocks */
};

/* Bytes that are all zero, aligned for anything. NULL: no memory. */
void *arena_alloc(struct arena *arena, size_t size);
void arena_free(struct arena *arena);

#endif
