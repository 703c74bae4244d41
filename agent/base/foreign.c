// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/utf8.h"

/* A character, or what stands for it. */
struct piece {
	const char *text;
	size_t length;
	size_t taken; /* bytes that it was made of */
};

/* What the first of `left` bytes begin; `room` holds it. */
static struct piece next_piece(const char *from, size_t left, char room[UTF8_MAX + 1])
{
	const size_t at_hand = left < UTF8_MAX ? left : UTF8_MAX;
	size_t length;

	memcpy(room, from, at_hand);
	room[at_hand] = '\0';
	length = utf8_shown(room);
	if (length)
		return (struct piece){room, length, length};
	length = utf8_length(room);
	return (struct piece){UTF8_REPLACEMENT, strlen(UTF8_REPLACEMENT), length ? length : 1};
}

size_t foreign_copy_bytes(char *to, size_t size, const char *from, size_t length)
{
	char room[UTF8_MAX + 1];
	struct piece piece;
	size_t used = 0;

	for (size_t at = 0; at < length; at += piece.taken) {
		piece = next_piece(from + at, length - at, room);
		if (used + piece.length >= size)
			break;
		memcpy(to + used, piece.text, piece.length);
		used += piece.length;
	}
	to[used] = '\0';
	return used;
}

void foreign_copy(char *to, size_t size, const char *from)
{
	foreign_copy_bytes(to, size, from, strlen(from));
}

char *foreign_dup(const char *from)
{
	const size_t size = FOREIGN_GROWTH * strlen(from) + 1;
	char *copy = malloc(size);

	if (copy)
		foreign_copy(copy, size, from);
	return copy;
}

void foreign_print(const char *text)
{
	const char *end = text ? text + strlen(text) : NULL;
	char room[UTF8_MAX + 1];
	struct piece piece;

	for (; text < end; text += piece.taken) {
		piece = next_piece(text, (size_t)(end - text), room);
		fwrite(piece.text, 1, piece.length, stdout);
	}
}
