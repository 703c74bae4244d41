// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "inspect/process_memory.h"
#include "runtimes/python/code_layout.h"
#include "runtimes/python/names.h"

#define FUNCTION_MAX  256
#define FILE_TEXT_MAX 512
_Static_assert(FUNCTION_MAX + FILE_TEXT_MAX <= NAMED_TEXT_MAX, "both have room");

/* Where things stand in PyCodeObject and PyASCIIObject (CPython's cpython/code.h, unicodeobject.h).
 */
static const struct layout {
	__u16 file, name, qualified; /* PyCodeObject.co_filename, co_name, co_qualname; 0: none */
	__u16 text;                  /* PyASCIIObject: the characters, if they are ASCII */
} layouts[] = {
    [PYTHON_CODE_3_10] = {104, PYTHON_CODE_NAME_3_10, 0, 48},
    [PYTHON_CODE_3_11] = {112, PYTHON_CODE_NAME, 128, 48},
    [PYTHON_CODE_3_12] = {112, PYTHON_CODE_NAME, 128, 40},
};

#define TEXT_LENGTH  16 /* PyASCIIObject.length: characters */
#define TEXT_STATE   32 /* PyASCIIObject.state */
#define STATE_ASCII  (1U << 6)
#define STATE_WITHIN (1U << 5) /* compact: the characters follow the object */

/* A text object; only its beginning if it is long. Returns whether it can be read. */
static bool read_text(int memory, __u64 object, const struct layout *layout, char *ret, size_t size)
{
	__u64 length = process_memory_u64(memory, object + TEXT_LENGTH);
	__u32 state = process_memory_u32(memory, object + TEXT_STATE);

	if (!object || !length ||
	    (state & (STATE_ASCII | STATE_WITHIN)) != (STATE_ASCII | STATE_WITHIN))
		return false;
	if (length > size - 1)
		length = size - 1;
	ret[length] = '\0';
	return !process_memory_read(memory, object + layout->text, ret, length);
}

static int read_names(int memory, const struct named_code *code, char *ret_text)
{
	const struct layout *layout = &layouts[code->layout];
	char name[FUNCTION_MAX], file[FILE_TEXT_MAX];
	__u16 place;

	if (code->layout <= PYTHON_CODE_NONE || code->layout > PYTHON_CODE_3_12)
		return -EINVAL;
	place = layout->qualified ? layout->qualified : layout->name;
	if (!read_text(memory, process_memory_u64(memory, code->address + place), layout, name,
		       sizeof(name)) ||
	    !read_text(memory, process_memory_u64(memory, code->address + layout->file), layout,
		       file, sizeof(file)))
		return -EINVAL;
	if (process_memory_u64(memory, code->address + layout->name) != code->check)
		return -ESTALE;
	snprintf(ret_text, NAMED_TEXT_MAX, "%s\n%s", name, file);
	return 0;
}

const struct runtime_names python_names = {
    .interpreter = "_PyEval_EvalFrameDefault", /* CPython, Python/ceval.c */
    .unknown = "[a function of Python]",
    .read = read_names,
};
