// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/strings.h"

#define FIRST_ROOM 256

/* The slot of a text: its own, or the free one where it belongs. */
static size_t find_slot(const struct strings *strings, const char *text)
{
	size_t at = hash_add(HASH_BEGIN, text, strlen(text)) % strings->slots;

	while (strings->slot[at] && strcmp(strings->text[strings->slot[at] - 1], text) != 0)
		at = (at + 1) % strings->slots;
	return at;
}

/* Twice as many texts, in four times as many slots. Returns 0 or -1. */
static int grow(struct strings *strings)
{
	size_t room = strings->room ? 2 * strings->room : FIRST_ROOM;
	char **text = realloc(strings->text, room * sizeof(char *));
	size_t *slot = calloc(2 * room, sizeof(*slot));

	if (text)
		strings->text = text;
	if (!text || !slot) {
		free(slot);
		return -1;
	}
	free(strings->slot);
	strings->slot = slot;
	strings->slots = 2 * room;
	strings->room = room;
	for (size_t i = 0; i < strings->count; i++)
		strings->slot[find_slot(strings, strings->text[i])] = i + 1;
	return 0;
}

static long append(struct strings *strings, const char *text)
{
	size_t at;

	if (strings->count == strings->room && grow(strings))
		return -1;
	at = find_slot(strings, text);
	if (strings->slot[at])
		return (long)strings->slot[at] - 1;
	strings->text[strings->count] = strdup(text);
	if (!strings->text[strings->count])
		return -1;
	strings->slot[at] = ++strings->count;
	return (long)strings->count - 1;
}

long strings_add(struct strings *strings, const char *text)
{
	if (!strings->count && append(strings, "") < 0)
		return -1;
	return append(strings, text);
}

void strings_free(struct strings *strings)
{
	for (size_t i = 0; i < strings->count; i++)
		free(strings->text[i]);
	free(strings->text);
	free(strings->slot);
	*strings = (struct strings){};
}
