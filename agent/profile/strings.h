/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, each once, by number: 0 is the empty one. */
#ifndef CTXPROP_PROFILE_STRINGS_H
#define CTXPROP_PROFILE_STRINGS_H

#include <stddef.h>

struct strings {
	char **text; /* by number */
	size_t count, room;
	size_t *slot; /* hash table of numbers plus 1 */
	size_t slots;
};

/* All zero is an empty table. The number of a text; -1: no memory. */
long strings_add(struct strings *strings, const char *text);
void strings_free(struct strings *strings);

#endif
