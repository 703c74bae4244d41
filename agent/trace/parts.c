// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/parts.h"

/* One head; a place in the ring is used again when as many others have begun. */
struct part {
	bool served;
	size_t size; /* 0: there is none */
	struct record_begin head;
};

struct parts {
	unsigned int next;
	struct part part[PARTS_MAX];
};

struct parts *parts_new(void)
{
	return calloc(1, sizeof(struct parts));
}

void parts_free(struct parts *parts)
{
	free(parts);
}

static bool is_same_head(const struct part *part, const struct record_begin *piece, bool served)
{
	const struct record_begin *head = &part->head;

	return part->size && part->served == served && head->head_start == piece->head_start &&
	       head->netns == piece->netns && head->local_port == piece->local_port &&
	       head->remote_port == piece->remote_port &&
	       !memcmp(head->remote, piece->remote, sizeof(head->remote)) &&
	       !memcmp(head->local, piece->local, sizeof(head->local));
}

/* Searched from the newest on, which is mostly the one. NULL: none of its pieces is known. */
static struct part *find(struct parts *parts, const struct record_begin *piece, bool served)
{
	for (unsigned int i = 1; i <= PARTS_MAX; i++) {
		struct part *part = &parts->part[(parts->next - i) % PARTS_MAX];

		if (is_same_head(part, piece, served))
			return part;
	}
	return NULL;
}

static void append(struct part *part, const struct record_begin *piece)
{
	size_t room = RECORD_HEAD_MAX - part->size;
	size_t size = piece->head_size < room ? piece->head_size : room;

	memcpy(part->head.head + part->size, piece->head, size);
	part->size += size;
}

void parts_add(struct parts *parts, const struct record_begin *piece)
{
	bool served = piece->kind == RECORD_SERVED_PART;
	struct part *part = find(parts, piece, served);

	if (!part) {
		part = &parts->part[parts->next++ % PARTS_MAX];
		memcpy(&part->head, piece, offsetof(struct record_begin, head));
		part->served = served;
		part->size = 0;
	}
	append(part, piece);
}

size_t parts_take(struct parts *parts, const struct record_begin *last,
		  __u8 ret_head[RECORD_HEAD_MAX])
{
	struct part *part = find(parts, last, last->kind == RECORD_SERVED);
	size_t size;

	if (!part)
		return 0;
	append(part, last);
	size = part->size;
	memcpy(ret_head, part->head.head, size);
	part->size = 0;
	return size;
}
