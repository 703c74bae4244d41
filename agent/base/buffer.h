/* SPDX-License-Identifier: Apache-2.0 */
/* A text that grows. */
#ifndef CTXPROP_BUFFER_H
#define CTXPROP_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty one. */
struct buffer {
	char *text; /* ends with NUL; NULL: nothing was added yet */
	size_t size, room;
	bool failed; /* there was no memory: the text is not whole */
};

/* Add bytes, or text, at the end. Without memory nothing is added, and `failed` is set. */
void buffer_add(struct buffer *buffer, const void *bytes, size_t size);
__attribute__((format(printf, 2, 3))) void buffer_printf(struct buffer *buffer, const char *format,
							 ...);
void buffer_free(struct buffer *buffer);

#endif
