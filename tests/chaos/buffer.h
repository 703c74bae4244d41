/* SPDX-License-Identifier: Apache-2.0 */
/* A growing byte buffer. Out of memory ends the program: it is a test tool. */
#ifndef CHAOS_BUFFER_H
#define CHAOS_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct buffer {
	uint8_t *data;
	size_t len, capacity;
};

/* Make room for `more` bytes behind the present ones. */
void buffer_reserve(struct buffer *buffer, size_t more);

/* Append a copy of `len` bytes. */
void buffer_append(struct buffer *buffer, const void *data, size_t len);

/* Append text in the manner of printf, without a terminating zero. */
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Give the memory back; the buffer is empty afterwards and may be used again. */
void buffer_free(struct buffer *buffer);

#endif
