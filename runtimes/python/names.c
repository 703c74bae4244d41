// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/utf8.h"
#include "inspect/process_memory.h"
#include "runtimes/python/code_layout.h"
#include "runtimes/python/names.h"

#define FUNCTION_MAX 256
#define FILE_MAX     500
_Static_assert(FUNCTION_MAX + FILE_MAX + NAMED_LINE_MAX <= NAMED_TEXT_MAX, "all have room");

/* Where things stand in PyCodeObject and PyASCIIObject (CPython's cpython/code.h, unicodeobject.h).
 */
static const struct layout {
	__u16 file, name, qualified; /* PyCodeObject.co_filename, co_name, co_qualname; 0: none */
	__u16 line;                  /* PyCodeObject.co_firstlineno */
	__u16 text;                  /* PyASCIIObject: the characters, if they are ASCII */
	__u16 other;                 /* PyCompactUnicodeObject: if they are not */
} layouts[] = {
    [PYTHON_CODE_3_10] = {104, PYTHON_CODE_NAME_3_10, 0, 40, 48, 72},
    [PYTHON_CODE_3_11] = {112, PYTHON_CODE_NAME, 128, 72, 48, 72},
    [PYTHON_CODE_3_12] = {112, PYTHON_CODE_NAME, 128, 68, 40, 56},
};

#define TEXT_LENGTH  16 /* PyASCIIObject.length: characters */
#define TEXT_STATE   32 /* PyASCIIObject.state */
#define STATE_ASCII  (1U << 6)
#define STATE_WITHIN (1U << 5) /* compact: the characters follow the object */
#define STATE_WIDTH  2         /* bit from which on the bytes of a character stand: 1, 2 or 4 */
#define WIDTH_MASK   7
#define WIDTH_MAX    4
#define CHUNK        64 /* characters that are read at a time */

/* The characters of a text object, and where they are written to. */
struct text {
	__u64 from, left;
	__u32 width;
	char *to;
	size_t room; /* without the NUL */
};

static __u32 character(const __u8 *bytes, __u32 width)
{
	__u32 c = 0;

	for (__u32 i = 0; i < width; i++)
		c |= (__u32)bytes[i] << (8 * i);
	return c;
}

static void put(struct text *text, __u32 c)
{
	char bytes[UTF8_MAX];
	const size_t size = utf8_encode(c, bytes);

	if (size > text->room) {
		text->room = 0;
		return;
	}
	for (size_t i = 0; i < size; i++)
		*text->to++ = bytes[i];
	text->room -= size;
}

/* The next characters. Returns whether they can be read. */
static bool put_chunk(int memory, struct text *text)
{
	const __u64 count = text->left < CHUNK ? text->left : CHUNK;
	__u8 bytes[CHUNK * WIDTH_MAX];

	if (process_memory_read(memory, text->from, bytes, count * text->width))
		return false;
	for (__u64 i = 0; i < count; i++)
		put(text, character(bytes + i * text->width, text->width));
	text->from += count * text->width;
	text->left -= count;
	return true;
}

/* A text object; only its beginning if it is long. Returns whether it can be read. */
static bool read_text(int memory, __u64 object, const struct layout *layout, char *ret, size_t size)
{
	const __u32 state = process_memory_u32(memory, object + TEXT_STATE);
	struct text text = {
	    .from = object + (state & STATE_ASCII ? layout->text : layout->other),
	    .left = process_memory_u64(memory, object + TEXT_LENGTH),
	    .width = state >> STATE_WIDTH & WIDTH_MASK,
	    .to = ret,
	    .room = size - 1,
	};

	if (!object || !text.left || !(state & STATE_WITHIN) ||
	    (text.width != 1 && text.width != 2 && text.width != 4))
		return false;
	while (text.left && text.room)
		if (!put_chunk(memory, &text))
			return false;
	*text.to = '\0';
	return true;
}

static int read_names(int memory, const struct named_code *code, char *ret_text)
{
	char name[FUNCTION_MAX], file[FILE_MAX];
	const struct layout *layout;
	__u32 line;
	__u16 place;

	if (code->layout <= PYTHON_CODE_NONE || code->layout > PYTHON_CODE_3_12)
		return -EINVAL;
	layout = &layouts[code->layout];
	place = layout->qualified ? layout->qualified : layout->name;
	if (!read_text(memory, process_memory_u64(memory, code->address + place), layout, name,
		       sizeof(name)) ||
	    !read_text(memory, process_memory_u64(memory, code->address + layout->file), layout,
		       file, sizeof(file)))
		return -EINVAL;
	line = process_memory_u32(memory, code->address + layout->line);
	if (process_memory_u64(memory, code->address + layout->name) != code->check)
		return -ESTALE;
	names_write(name, file, line, ret_text);
	return 0;
}

const struct runtime_names python_names = {
    .interpreter = "_PyEval_EvalFrameDefault", /* CPython, Python/ceval.c */
    .switcher = "_greenlet.",
    .unknown = "[a function of Python]",
    .read = read_names,
};
