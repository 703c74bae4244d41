// SPDX-License-Identifier: Apache-2.0
#include <stdalign.h>
#include <stdlib.h>

#include "profile/message/arena.h"

#define BLOCK_BYTES (64UL << 10)

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char bytes[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
	struct arena_block *block = arena->block;
	size_t wanted = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1), room;

	if (!block || wanted > block->size - block->used) {
		room = wanted > BLOCK_BYTES ? wanted : BLOCK_BYTES;
		block = calloc(1, sizeof(*block) + room);
		if (!block)
			return NULL;
		block->size = room;
		block->next = arena->block;
		arena->block = block;
		arena->bytes += room;
	}
	block->used += wanted;
	return block->bytes + block->used - wanted;
}

void arena_free(struct arena *arena)
{
	struct arena_block *next;

	for (struct arena_block *block = arena->block; block; block = next) {
		next = block->next;
		free(block);
	}
	*arena = (struct arena){};
}
