// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <string.h>

#include "base/misspelt.h"

#define NAME_MAX_LENGTH 24
#define LONG_LENGTH     5 /* from here on two letters may be wrong */

static size_t smallest(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

/* How many letters have to be added, removed or replaced (Levenshtein). */
static size_t distance(const char *word, size_t word_length, const char *name, size_t length)
{
	size_t row[NAME_MAX_LENGTH + 1];

	for (size_t n = 0; n <= length; n++)
		row[n] = n;
	for (size_t w = 1; w <= word_length; w++) {
		size_t diagonal = row[0];

		row[0] = w;
		for (size_t n = 1; n <= length; n++) {
			size_t replaced = diagonal + (word[w - 1] != name[n - 1]);

			diagonal = row[n];
			row[n] = smallest(replaced, row[n] + 1, row[n - 1] + 1);
		}
	}
	return row[length];
}

bool misspelt(const char *word, const char *name)
{
	size_t word_length = strlen(word), length = strlen(name);
	size_t most = length < LONG_LENGTH ? 1 : 2;

	if (word_length > NAME_MAX_LENGTH || length > NAME_MAX_LENGTH || word_length < 2)
		return false;
	return distance(word, word_length, name, length) <= most;
}
