/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_TEXT_H
#define CTXPROP_TEXT_H

#include <string.h>

/*
 * Copy a text into a buffer of `size` bytes; what does not fit is cut off, at the end of a
 * character of UTF-8. Texts that others wrote have come in before (foreign.h).
 */
static inline void text_copy(char *to, size_t size, const char *from)
{
	size_t length = strnlen(from, size - 1);

	/* A character has three bytes at most behind its first. */
	for (int i = 0; i < 3 && length && ((unsigned char)from[length] & 0xc0) == 0x80; i++)
		length--;

	memcpy(to, from, length);
	to[length] = '\0';
}

#endif
