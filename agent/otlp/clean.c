// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stddef.h>

#include "otlp/clean.h"

/* Bytes of the character that begins with this byte; 0: none does. */
static size_t length_by(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if ((first & 0xf0) == 0xe0)
		return 3;
	return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The second byte says whether it is written too long, a surrogate, or above U+10FFFF. */
static bool is_second(unsigned char first, unsigned char second)
{
	unsigned char low = 0x80, high = 0xbf;

	if (first == 0xe0)
		low = 0xa0;
	else if (first == 0xf0)
		low = 0x90;
	else if (first == 0xed)
		high = 0x9f;
	else if (first == 0xf4)
		high = 0x8f;
	return second >= low && second <= high;
}

/* Bytes of the character at the beginning of a text that is not empty; 0: there is none. */
static size_t character(const unsigned char *text)
{
	size_t length = length_by(*text);

	if (length > 1 && !is_second(text[0], text[1]))
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

void otlp_clean(char *text)
{
	while (*text) {
		size_t length = character((unsigned char *)text);

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}
