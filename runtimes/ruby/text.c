// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/utf8.h"
#include "inspect/process_memory.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/text.h"

/* Of RString, Ruby 2.7 to 3.4 (include/ruby/internal/core/rstring.h). */
#define TYPE_STRING       0x05
#define STRING_OUTSIDE    (1ULL << 13) /* its characters are elsewhere */
#define STRING_SHIFT      14           /* else so many bits further is their number, before 3.2, */
#define STRING_MASK       0x1f         /* of so many */
#define STRING_LENGTH     16           /* the number, otherwise */
#define STRING_POINTER    24           /* where they are, outside */
#define STRING_WITHIN     16           /* and within, before 3.2 */
#define STRING_WITHIN_3_2 24

/* Where the characters of a String are, and how many. */
static __u64 characters(int memory, __u64 object, __u64 flags, int layout, __u64 *ret_length)
{
	const bool is_new = layout >= RUBY_CODE_3_2;

	if (is_new || flags & STRING_OUTSIDE)
		*ret_length = process_memory_u64(memory, object + STRING_LENGTH);
	else
		*ret_length = flags >> STRING_SHIFT & STRING_MASK;
	if (flags & STRING_OUTSIDE)
		return process_memory_u64(memory, object + STRING_POINTER);
	return object + (is_new ? STRING_WITHIN_3_2 : STRING_WITHIN);
}

bool ruby_text(int memory, __u64 object, int layout, char *ret, size_t size)
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
