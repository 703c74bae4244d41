// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"
#include "profile/names/runtime_text.h"
#include "runtimes/names.h"

/* Take a part up to the end of a line, or of the text. Returns what is behind it. */
static const char *take(const char *text, const char **ret_part, size_t *ret_length)
{
	*ret_part = text;
	*ret_length = strcspn(text, "\n");
	return text + *ret_length;
}

static bool is_line(const char *part, size_t length)
{
	char copy[NAMED_TEXT_MAX];

	text_copy(copy, length + 1, part);
	return utf8_is_line(copy, false);
}

/* A number of a line, without anything else. Returns whether it is one. */
static bool read_line(const char *text, __u32 *ret_line)
{
	unsigned long line;

	if (number_parse(text, 1, UINT32_MAX, &line))
		return false;
	*ret_line = (__u32)line;
	return true;
}

bool runtime_text_parse(const char *text, size_t size, struct runtime_text *ret)
{
	const char *rest;

	*ret = (struct runtime_text){};
	if (!size || size > NAMED_TEXT_MAX || strnlen(text, size) != size - 1)
		return false;
	rest = take(text, &ret->function, &ret->function_length);
	if (!ret->function_length || *rest != '\n')
		return false;
	rest = take(rest + 1, &ret->file, &ret->file_length);
	return is_line(ret->function, ret->function_length) &&
	       is_line(ret->file, ret->file_length) && (!*rest || read_line(rest + 1, &ret->line));
}
