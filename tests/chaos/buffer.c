/* SPDX-License-Identifier: Apache-2.0 */
#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buffer_reserve(struct buffer *buffer, size_t more)
{
	size_t need = buffer->len + more;
	size_t capacity = buffer->capacity ? buffer->capacity : 512;

	if (need <= buffer->capacity)
		return;
	while (capacity < need)
		capacity *= 2;
	buffer->data = realloc(buffer->data, capacity);
	if (!buffer->data) {
		fprintf(stderr, "out of memory: no %zu bytes for a buffer\n", capacity);
		exit(2);
	}
	buffer->capacity = capacity;
}

void buffer_append(struct buffer *buffer, const void *data, size_t len)
{
	if (!len)
		return;
	buffer_reserve(buffer, len);
	memcpy(buffer->data + buffer->len, data, len);
	buffer->len += len;
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	buffer_reserve(buffer, (size_t)len + 1);
	va_start(args, format);
	vsnprintf((char *)buffer->data + buffer->len, (size_t)len + 1, format, args);
	va_end(args);
	buffer->len += (size_t)len;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){0};
}
