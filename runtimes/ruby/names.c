// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "inspect/process_memory.h"
#include "runtimes/ruby/class.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/names.h"
#include "runtimes/ruby/text.h"

#define LABEL_MAX 256
#define FILE_MAX  500
_Static_assert(LABEL_MAX + FILE_MAX + NAMED_LINE_MAX <= NAMED_TEXT_MAX, "all have room");

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

/* Is it still what the sample has met? The process may have gone on meanwhile. */
static bool is_same(int memory, const struct ruby_named *named, int layout, struct body *ret_body)
{
	__u64 check;

	if (!read_body(memory, named->code, ret_body))
		return false;
	check = ret_body->address;
	for (int i = 0; i < RUBY_BODY_WORDS; i++)
		check = ruby_check_add(check, ret_body->word[i]);
	if (named->owner)
		check = ruby_class_check(memory, named->owner, layout, check);
	return ruby_check_is(check, named->check);
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

	if (layout >= RUBY_CODE_3_2)
		return (__u32)word;
	return word & RUBY_INTEGER && word >> 32 == 0 ? (__u32)word >> 1 : 0;
}

/* Is it the name of a method, and not "<main>", "<class:Shop>" or "singleton class"? */
static bool is_method(const char *base)
{
	const size_t length = strlen(base);
	const bool is_place = length > strlen("<=>") && base[0] == '<' && base[length - 1] == '>';

	return !is_place && !strchr(base, ' ');
}

/* The class comes before the method's name, with which the label ends: "block in Shop#total". */
static void put_class(const char *class, const char *base, char label[LABEL_MAX])
{
	const size_t length = strlen(label), method = strlen(base), more = strlen(class);

	if (length < method || strcmp(label + length - method, base) != 0 ||
	    length + more >= LABEL_MAX)
		return;
	memmove(label + length - method + more, label + length - method, method + 1);
	memcpy(label + length - method, class, more);
}

/* Without the class where it is not known for certain. */
static bool read_label(int memory, const struct body *body, __u64 owner, int layout,
		       char ret[LABEL_MAX])
{
	char base[LABEL_MAX], class[LABEL_MAX];

	if (!ruby_text(memory, body->word[RUBY_BODY_LABEL], layout, ret, LABEL_MAX))
		return false;
	if (owner && ruby_text(memory, body->word[RUBY_BODY_BASE], layout, base, sizeof(base)) &&
	    is_method(base) && ruby_class_read(memory, owner, layout, class, sizeof(class)))
		put_class(class, base, ret);
	return true;
}

static int read_names(int memory, const struct named_code *code, char *ret_text)
{
	const struct ruby_named named = ruby_unpack(code->address, code->check);
	char label[LABEL_MAX], path[FILE_MAX];
	struct body body;

	if (code->layout <= RUBY_CODE_NONE || code->layout >= RUBY_CODE_LAYOUTS ||
	    !read_body(memory, named.code, &body))
		return -EINVAL;
	if (!read_label(memory, &body, named.owner, code->layout, label) ||
	    !ruby_text(memory, path_of(memory, body.word[RUBY_BODY_PATH]), code->layout, path,
		       sizeof(path)))
		return -EINVAL;
	if (!is_same(memory, &named, code->layout, &body))
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
