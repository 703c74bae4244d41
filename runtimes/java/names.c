// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "inspect/process_memory.h"
#include "runtimes/java/compiled.h"
#include "runtimes/java/names.h"
#include "runtimes/java/scopes.h"

#define CLASS_MAX  320
#define METHOD_MAX 192
#define FILE_MAX   192
_Static_assert(CLASS_MAX + METHOD_MAX + FILE_MAX + 2 <= NAMED_TEXT_MAX, "all have room");

/*
 * Text of the virtual machine; only its beginning if it is long. Returns whether it is text. (It
 * writes some rare characters in a way of its own: what has them is not named.)
 */
static bool read_symbol(int memory, const struct java_code *code, __u64 symbol, char *ret,
			size_t size)
{
	size_t length = process_memory_u16(memory, symbol + code->symbol_length);
	const bool is_cut = length > size - 1;

	if (!symbol || !length)
		return false;
	if (is_cut)
		length = size - 1;
	ret[length] = '\0';
	return !process_memory_read(memory, symbol + code->symbol_text, ret, length) &&
	       utf8_is_line(ret, is_cut);
}

/* A constant that is text, by its number. */
static bool read_constant(int memory, const struct java_code *code, __u64 constants, __u16 number,
			  char *ret, size_t size)
{
	const __u64 place = constants + code->constants_size + number * sizeof(__u64);

	return number && read_symbol(memory, code, process_memory_u64(memory, place), ret, size);
}

/* A class has its name as in "java/lang/Thread". */
static bool read_class(int memory, const struct java_code *code, __u64 class, char *ret,
		       size_t size)
{
	if (!read_symbol(memory, code, process_memory_u64(memory, class + code->class_name), ret,
			 size))
		return false;
	for (char *at = ret; *at; at++)
		if (*at == '/')
			*at = '.';
	return true;
}

/*
 * A class and its constants know each other, so that nothing else is taken for one. (Constants of a
 * method may be others than those of its class.)
 */
static bool is_class(int memory, const struct java_code *code, __u64 class)
{
	const __u64 constants =
	    class ? process_memory_u64(memory, class + code->class_constants) : 0;

	return constants && process_memory_u64(memory, constants + code->holder) == class;
}

static int read_method(int memory, const struct java_code *code, __u64 method, __u64 told,
		       char *ret_text)
{
	const __u64 constants = process_memory_u64(memory, told + code->constants);
	const __u64 class = process_memory_u64(memory, constants + code->holder);
	const __u16 name = process_memory_u16(memory, told + code->name_index);
	const __u16 source = process_memory_u16(memory, constants + code->source);
	char of_class[CLASS_MAX], of_method[METHOD_MAX], of_file[FILE_MAX];

	if (!is_class(memory, code, class) ||
	    !read_class(memory, code, class, of_class, sizeof(of_class)) ||
	    !read_constant(memory, code, constants, name, of_method, sizeof(of_method)))
		return -EINVAL;
	if (!read_constant(memory, code, constants, source, of_file, sizeof(of_file)))
		of_file[0] = '\0';
	if (process_memory_u64(memory, method + code->const_method) != told)
		return -ESTALE;
	snprintf(ret_text, NAMED_TEXT_MAX, "%s.%s\n%s", of_class, of_method, of_file);
	return 0;
}

/*
 * Code of a method that has called. The method of number `depth` is wanted, from the innermost one
 * outwards. Returns whether that was put into another one, as read() does.
 */
static int read_call(int memory, const struct named_code *named, char *ret_text)
{
	const struct java_code *code = &named->compiled->java;
	const __u64 blob = named->address & ~JAVA_PAIR_BITS;
	__u64 method[JAVA_SCOPES_MAX];
	size_t count = java_scopes_read(memory, code, blob, JAVA_CALL_PLACE(named->check), method);
	int err;

	if (!count) {
		method[0] = process_memory_u64(memory, blob + code->method);
		count = 1;
	}
	if (named->depth >= count)
		return -EINVAL;
	err = read_method(memory, code, method[named->depth],
			  process_memory_u64(memory, method[named->depth] + code->const_method),
			  ret_text);
	if (process_memory_u32(memory, blob + code->scopes.compilation) !=
	    named->check >> JAVA_CALL_SHIFT)
		return -ESTALE;
	return err ? err : named->depth + 1U < count;
}

/* Any other code is called what its blob says; `check` is the address of that text. */
static int read_blob(int memory, const struct named_code *named, char *ret_text)
{
	const struct java_code *code = &named->compiled->java;
	const __u64 blob = named->address & ~JAVA_PAIR_BLOB;
	char name[METHOD_MAX];

	process_memory_text(memory, named->check, name, sizeof(name));
	if (process_memory_u64(memory, blob + code->name) != named->check)
		return -ESTALE;
	if (!name[0] || !utf8_is_line(name, true))
		return -EINVAL;
	snprintf(ret_text, NAMED_TEXT_MAX, "[%s of Java]\n", name);
	return 0;
}

static int read_names(int memory, const struct named_code *named, char *ret_text)
{
	if (!named->compiled)
		return -EINVAL;
	if (named->address & JAVA_PAIR_BLOB)
		return read_blob(memory, named, ret_text);
	if (named->address & JAVA_PAIR_CALL)
		return read_call(memory, named, ret_text);
	return read_method(memory, &named->compiled->java, named->address, named->check, ret_text);
}

const struct runtime_names java_names = {
    .unknown = "[a method of Java]",
    .read = read_names,
    .compiled = java_compiled_read,
};
