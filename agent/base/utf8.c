// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* How many bytes follow the first one; -1: it begins no character. */
static int followers(unsigned char first)
{
	if (first < 0x80)
		return 0;
	if (first >= 0xc2 && first <= 0xdf)
		return 1;
	if (first >= 0xe0 && first <= 0xef)
		return 2;
	if (first >= 0xf0 && first <= 0xf4)
		return 3;
	return -1;
}

/* Too long for what it stands for, a surrogate, or above U+10FFFF. */
static bool is_forbidden(unsigned char first, unsigned char second)
{
	return (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
	       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
}

size_t utf8_length(const char *text)
{
	const unsigned char *bytes = (const unsigned char *)text;
	int count = followers(bytes[0]);

	if (count < 0 || !bytes[0])
		return 0;
	for (int i = 1; i <= count; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	if (count && is_forbidden(bytes[0], bytes[1]))
		return 0;
	return (size_t)count + 1;
}

char *utf8_repair(const char *text)
{
	/* Each byte becomes three at most. */
	char *repaired = malloc(3 * strlen(text) + 1), *end = repaired;

	while (repaired && *text) {
		size_t length = utf8_length(text);

		memcpy(end, length ? text : UTF8_REPLACEMENT, length ? length : 3);
		end += length ? length : 3;
		text += length ? length : 1;
	}
	if (repaired)
		*end = '\0';
	return repaired;
}
