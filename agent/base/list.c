// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/list.h"

#define FIRST_ROOM 16

void *list_make_room(void *list, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : FIRST_ROOM;
	void *moved;

	if (count < *room)
		return list;
	moved = reallocarray(list, more, size);
	if (moved)
		*room = more;
	return moved;
}
