// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/hash.h"
#include "runtimes/python/names.h"
#include "inspect/process_memory.h"

#define SLOTS         65536 /* code objects whose name is remembered; others take their place */
#define FUNCTION_MAX  256
#define FILE_TEXT_MAX 512

/* Where things stand in PyCodeObject and PyASCIIObject (CPython's cpython/code.h, unicodeobject.h).
 */
static const struct layout {
	__u16 file, name, qualified; /* PyCodeObject.co_filename, co_name, co_qualname; 0: none */
	__u16 text;                  /* PyASCIIObject: the characters, if they are ASCII */
} layouts[] = {
    [PROFILE_PYTHON_3_10] = {104, PROFILE_PYTHON_NAME_3_10, 0, 48},
    [PROFILE_PYTHON_3_11] = {112, PROFILE_PYTHON_NAME, 128, 48},
    [PROFILE_PYTHON_3_12] = {112, PROFILE_PYTHON_NAME, 128, 40},
};

#define TEXT_LENGTH  16 /* PyASCIIObject.length: characters */
#define TEXT_STATE   32 /* PyASCIIObject.state */
#define STATE_ASCII  (1U << 6)
#define STATE_WITHIN (1U << 5) /* compact: the characters follow the object */

struct known {
	struct python_code code;
	long number;
};

struct python_names {
	struct strings texts;
	struct known known[SLOTS];
};

struct python_names *python_names_new(void)
{
	return calloc(1, sizeof(struct python_names));
}

void python_names_free(struct python_names *names)
{
	if (names)
		strings_free(&names->texts);
	free(names);
}

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

/* Two texts of one. Returns the number, 0: no memory. */
static long add(struct python_names *names, const char *name, const char *file)
{
	char both[FUNCTION_MAX + FILE_TEXT_MAX];
	long number;

	snprintf(both, sizeof(both), "%s\n%s", name, file);
	number = strings_add(&names->texts, both);
	return number > 0 ? number : 0;
}

long python_names_read(struct python_names *names, int memory, const struct python_code *code)
{
	const struct layout *layout = &layouts[code->layout];
	char name[FUNCTION_MAX], file[FILE_TEXT_MAX];
	__u16 place = layout->qualified ? layout->qualified : layout->name;

	if (!read_text(memory, process_memory_u64(memory, code->address + place), layout, name,
		       sizeof(name)) ||
	    !read_text(memory, process_memory_u64(memory, code->address + layout->file), layout,
		       file, sizeof(file)))
		return 0;
	/* Is it still the object that the sample has met? */
	if (process_memory_u64(memory, code->address + layout->name) != code->name)
		return 0;
	return add(names, name, file);
}

static long read_process(struct python_names *names, const struct python_code *code)
{
	_cleanup_close_ int memory = -1;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u/mem", code->tgid);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	return memory < 0 ? 0 : python_names_read(names, memory, code);
}

static bool is_same(const struct python_code *a, const struct python_code *b)
{
	return a->tgid == b->tgid && a->life == b->life && a->address == b->address &&
	       a->name == b->name;
}

static struct known *slot_of(struct python_names *names, const struct python_code *code)
{
	__u64 hash = hash_add(HASH_BEGIN, &code->address, sizeof(code->address));

	hash = hash_add(hash, &code->name, sizeof(code->name));
	hash = hash_add(hash, &code->tgid, sizeof(code->tgid));
	return &names->known[(hash ^ hash >> 32) % SLOTS];
}

long python_names_get(struct python_names *names, const struct python_code *code)
{
	struct known *known = slot_of(names, code);

	if (code->layout <= PROFILE_PYTHON_NONE || code->layout > PROFILE_PYTHON_3_12)
		return 0;
	if (known->number && is_same(&known->code, code))
		return known->number;
	known->code = *code;
	known->number = read_process(names, code);
	return known->number;
}

const struct strings *python_names_texts(const struct python_names *names)
{
	return &names->texts;
}
