/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CTXPROP_TEXT_H
#define CTXPROP_TEXT_H

#include <string.h>

/* Copy a text into a buffer of `size` bytes; what does not fit is cut off. */
static inline void text_copy(char *to, size_t size, const char *from)
{
	size_t length = strnlen(from, size - 1);

	memcpy(to, from, length);
	to[length] = '\0';
}

#endif
