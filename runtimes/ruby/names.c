// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"
#include "inspect/process_memory.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/names.h"

#define LABEL_MAX 256
#define FILE_MAX  500
_Static_assert(LABEL_MAX + FILE_MAX + NAMED_LINE_MAX <= NAMED_TEXT_MAX, "all have room");

/* Of RString, Ruby 2.7 to 3.4 (include/ruby/internal/core/rstring.h). */
#define TYPE_STRING       0x05
#define STRING_OUTSIDE    (1ULL << 13) /* its characters are elsewhere */
#define STRING_SHIFT      14           /* else so many bits further is their number, before 3.2, */
#define STRING_MASK       0x1f         /* of so many */
#define STRING_LENGTH     16           /* the number, otherwise */
#define STRING_POINTER    24           /* where they are, outside */
#define STRING_WITHIN     16           /* and within, before 3.2 */
#define STRING_WITHIN_3_2 24

#define RUBY_INTEGER 1 /* the last bit of what is one, and no object */

/* Words of the body of a piece of code. */
struct body {
	__u64 address, word[RUBY_BODY_WORDS];
};

static bool read_body(int memory, __u64 code, struct body *ret)
{
	ret->address = process_memory_u64(memory, code + RUBY_CODE_BODY);
	return ret->address &&
	       !process_memory_read(memory, ret->address, ret->word, sizeof(ret->word));
}

static __u64 check_of(const struct body *body)
{
	__u64 check = body->address;

	for (int i = 0; i < RUBY_BODY_WORDS; i++)
		check = ruby_check_add(check, body->word[i]);
	return check;
}

/* Where the characters of a String are, and how many. */
static __u64 characters(int memory, __u64 object, __u64 flags, int layout, __u64 *ret_length)
{
	if (layout == RUBY_CODE_3_2 || flags & STRING_OUTSIDE)
		*ret_length = process_memory_u64(memory, object + STRING_LENGTH);
	else
		*ret_length = flags >> STRING_SHIFT & STRING_MASK;
	if (flags & STRING_OUTSIDE)
		return process_memory_u64(memory, object + STRING_POINTER);
	return object + (layout == RUBY_CODE_3_2 ? STRING_WITHIN_3_2 : STRING_WITHIN);
}

/* A String that has room. Returns whether it is one, of characters that can be shown. */
static bool read_string(int memory, __u64 object, int layout, char *ret, size_t size)
{
	__u64 flags = process_memory_u64(memory, object), length, from;

	if ((flags & RUBY_TYPE_MASK) != TYPE_STRING)
		return false;
	from = characters(memory, object, flags, layout, &length);
	if (!length || length >= size || process_memory_read(memory, from, ret, length))
		return false;
	ret[length] = '\0';
	return strlen(ret) == length && utf8_is_line(ret, false);
}

/* The String with the path: itself, or the first item of an Array. */
static __u64 path_of(int memory, __u64 object)
{
	__u64 flags = process_memory_u64(memory, object);

	if ((flags & RUBY_TYPE_MASK) != RUBY_TYPE_ARRAY)
		return object;
	if (flags & RUBY_ARRAY_WITHIN)
		return process_memory_u64(memory, object + RUBY_ARRAY_ITEMS);
	return process_memory_u64(memory, process_memory_u64(memory, object + RUBY_ARRAY_POINTER));
}

/* The line at which it begins: an Integer of Ruby, since 3.2 one of C; 0: not known. */
static __u32 line_of(const struct body *body, int layout)
{
	const __u64 word = body->word[RUBY_BODY_LINE];

	if (layout == RUBY_CODE_3_2)
		return (__u32)word;
	return word & RUBY_INTEGER && word >> 32 == 0 ? (__u32)word >> 1 : 0;
}

static int read_names(int memory, const struct named_code *code, char *ret_text)
{
	char label[LABEL_MAX], path[FILE_MAX];
	struct body body;

	if (code->layout <= RUBY_CODE_NONE || code->layout >= RUBY_CODE_LAYOUTS ||
	    !read_body(memory, code->address, &body))
		return -EINVAL;
	if (!read_string(memory, body.word[RUBY_BODY_LABEL], code->layout, label, sizeof(label)) ||
	    !read_string(memory, path_of(memory, body.word[RUBY_BODY_PATH]), code->layout, path,
			 sizeof(path)))
		return -EINVAL;
	/* Anew, since the process may have gone on meanwhile. */
	if (!read_body(memory, code->address, &body) || check_of(&body) != code->check)
		return -ESTALE;
	names_write(label, path, line_of(&body, code->layout), ret_text);
	return 0;
}

const struct runtime_names ruby_names = {
    .interpreter = "rb_vm_exec", /* Ruby, vm.c */
    .loop = "vm_exec_core",
    .unknown = "[a method of Ruby]",
    .may_differ = true,
    .read = read_names,
};
