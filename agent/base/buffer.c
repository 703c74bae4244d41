// SPDX-License-Identifier: Apache-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define ROOM_FIRST 4096

/* Room for so many bytes more and a NUL. Returns whether it is there. */
static bool make_room(struct buffer *buffer, size_t size)
{
	size_t room = buffer->room ? buffer->room : ROOM_FIRST;
	char *more;

	while (room < buffer->size + size + 1)
		room *= 2;
	if (buffer->failed || room == buffer->room)
		return !buffer->failed;
	more = realloc(buffer->text, room);
	buffer->failed = !more;
	if (!more)
		return false;
	buffer->text = more;
	buffer->room = room;
	return true;
}

void buffer_add(struct buffer *buffer, const void *bytes, size_t size)
{
	if (!make_room(buffer, size))
		return;
	memcpy(buffer->text + buffer->size, bytes, size);
	buffer->size += size;
	buffer->text[buffer->size] = '\0';
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list arguments;
	char text[512];
	int length;

	va_start(arguments, format);
	length = vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	if (length < 0)
		return;
	if ((size_t)length < sizeof(text)) {
		buffer_add(buffer, text, (size_t)length);
		return;
	}
	if (!make_room(buffer, (size_t)length))
		return;
	va_start(arguments, format);
	vsnprintf(buffer->text + buffer->size, (size_t)length + 1, format, arguments);
	va_end(arguments);
	buffer->size += (size_t)length;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->text);
	*buffer = (struct buffer){};
}
