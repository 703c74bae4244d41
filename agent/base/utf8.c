// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
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

/* Marks, embeddings, overrides and isolates of the bidirectional algorithm (UAX 9, 2). */
static bool turns_about(__u32 c)
{
	return c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/* Line and paragraph separators. */
static bool ends_line(__u32 c)
{
	return c == 0x2028 || c == 0x2029;
}

/* C0, DEL or C1. */
static bool is_control(__u32 c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0);
}

/* Surrogates, the last two of each plane, and what is behind the last plane. */
static bool is_none(__u32 c)
{
	return (c >= 0xd800 && c < 0xe000) || (c & 0xfffe) == 0xfffe || c > 0x10ffff;
}

static bool is_shown(__u32 c)
{
	return !is_control(c) && !ends_line(c) && !turns_about(c) && !is_none(c);
}

/* The number of a character of so many bytes. */
static __u32 decode(const char *text, size_t length)
{
	static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	__u32 c = (unsigned char)text[0] & mask[length];

	for (size_t i = 1; i < length; i++)
		c = c << 6 | ((unsigned char)text[i] & 0x3f);
	return c;
}

size_t utf8_shown(const char *text)
{
	const size_t length = utf8_length(text);

	return length && is_shown(decode(text, length)) ? length : 0;
}

bool utf8_is_line(char *text, bool is_cut)
{
	size_t length;

	for (; *text; text += length) {
		length = utf8_shown(text);
		if (!length && is_cut && !utf8_length(text) && strlen(text) < UTF8_MAX) {
			*text = '\0';
			break;
		}
		if (!length)
			return false;
	}
	return true;
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
