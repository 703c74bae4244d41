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

/* Of the character at the beginning of a text: C0, DEL or C1 (U+0080 to U+009F)? */
static bool is_control(const char *text)
{
	const unsigned char first = (unsigned char)text[0], second = (unsigned char)text[1];

	return first < ' ' || first == 0x7f || (first == 0xc2 && second < 0xa0);
}

bool utf8_is_line(char *text, bool is_cut)
{
	size_t length;

	for (; *text; text += length) {
		length = utf8_length(text);
		if (!length && is_cut && strlen(text) < UTF8_MAX) {
			*text = '\0';
			break;
		}
		if (!length || is_control(text))
			return false;
	}
	return true;
}

static bool is_shown(__u32 c)
{
	return c >= ' ' && c != 0x7f && !(c >= 0x80 && c < 0xa0) && !(c >= 0xd800 && c < 0xe000) &&
	       c <= 0x10ffff;
}

/* The last six bits that are still in `c`, as a byte that follows. */
static char take_six(__u32 *c)
{
	const char byte = (char)(0x80 | (*c & 0x3f));

	*c >>= 6;
	return byte;
}

size_t utf8_encode(__u32 character, char ret[UTF8_MAX])
{
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
	__u32 c = is_shown(character) ? character : '?';
	const size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = size; i > 1; i--)
		ret[i - 1] = take_six(&c);
	ret[0] = (char)(first[size] | c);
	return size;
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
