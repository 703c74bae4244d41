// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/node/compiled.h"
#include "runtimes/node/inlined.h"
#include "runtimes/node/names.h"
#include "runtimes/node/text.h"

#define FUNCTION_MAX 256
#define FILE_MAX     480
_Static_assert(FUNCTION_MAX + FILE_MAX <= NAMED_TEXT_MAX, "both have room");

#define WORD 8

/*
 * ScopeInfo: fixed words; the names and properties of its variables, as long as they are few, else
 * a table and the properties; and then, each if there is one, words as the flags say (V8's
 * scope-info.tq).
 */
#define SCOPE_FLAGS          8
#define SCOPE_COUNT          24
#define SCOPE_NAMES_MAX      75
#define SCOPE_COUNT_MAX      65536
#define FLAGS_KIND           15
#define FLAGS_CLASS_VARIABLE (1U << 10)
#define FLAGS_NAME           (3U << 12) /* two words: the name comes first */
#define FLAGS_INFERRED       (1U << 14) /* from where it was assigned to */

/* The number that a word stands for. */
static __u32 number(__u64 word)
{
	return word >> 32;
}

enum found { FOUND, FOUND_NONE, FOUND_MOVED };

/* A text that is a name; not an empty one. */
static enum found read_name(int memory, __u64 object, char *ret)
{
	if (node_text(memory, object, ret, FUNCTION_MAX) && ret[0])
		return FOUND;
	return node_is_moved(memory, object) ? FOUND_MOVED : FOUND_NONE;
}

static void set_anonymous(char *ret)
{
	snprintf(ret, FUNCTION_MAX, "(anonymous)");
}

/* Returns whether it is known what it is called. */
static bool read_scope(int memory, const struct node_code *code, __u64 scope, char *ret)
{
	const __u64 word = node_word(memory, scope, SCOPE_FLAGS);
	const __u32 flags = code->scope_smi ? number(word) : (__u32)word;
	const __u32 count = number(node_word(memory, scope, SCOPE_COUNT));
	enum found found = FOUND_NONE;
	__u32 at = code->scope_locals;

	if (count > SCOPE_COUNT_MAX)
		return false;
	if ((flags & FLAGS_KIND) != code->scope_function) {
		snprintf(ret, FUNCTION_MAX, "(top level)");
		return true;
	}
	at += WORD * (count < SCOPE_NAMES_MAX ? 2 * count : 1 + count);
	at += flags & FLAGS_CLASS_VARIABLE ? WORD : 0;
	if (flags & FLAGS_NAME) {
		found = read_name(memory, node_word(memory, scope, at), ret);
		at += 2 * WORD;
	}
	if (found == FOUND_NONE && flags & FLAGS_INFERRED)
		found = read_name(memory, node_word(memory, scope, at), ret);
	if (found == FOUND_NONE)
		set_anonymous(ret);
	return found != FOUND_MOVED;
}

/* V8's own functions have their name in place of a ScopeInfo; it may be empty. */
static bool read_function(int memory, const struct node_code *code, __u64 scope, char *ret)
{
	if (node_type(memory, scope) == code->scope)
		return read_scope(memory, code, scope, ret);
	if (!node_text(memory, scope, ret, FUNCTION_MAX))
		return false;
	if (!ret[0])
		set_anonymous(ret);
	return true;
}

/* Returns whether it is known in which file it is, if in any. */
static bool read_file(int memory, const struct node_code *code, __u64 script, char *ret)
{
	const __u64 name = node_word(memory, script, code->script_name);

	if (node_type(memory, script) == code->script && node_text(memory, name, ret, FILE_MAX))
		return true;
	ret[0] = '\0';
	return !node_is_moved(memory, script) && !node_is_moved(memory, name);
}

/* Is it still what the sample has met? */
static bool is_same(int memory, const struct node_code *code, const struct named_code *named)
{
	const __u64 info = named->address;

	return node_type(memory, info) == code->info &&
	       node_check(node_word(memory, info, code->info_scope),
			  node_word(memory, info, code->info_script),
			  (__u32)node_word(memory, info, code->info_parameters)) == named->check;
}

/* Returns whether it is known what a function is called. */
static bool read_info(int memory, const struct node_code *code, __u64 info, char *ret_text)
{
	char function[FUNCTION_MAX], file[FILE_MAX];

	if (node_type(memory, info) != code->info ||
	    !read_function(memory, code, node_word(memory, info, code->info_scope), function) ||
	    !read_file(memory, code, node_word(memory, info, code->info_script), file))
		return false;
	snprintf(ret_text, NAMED_TEXT_MAX, "%s\n%s", function, file);
	return true;
}

/* Functions that were put into another one; read twice, as the garbage collector may move them. */
static int read_inner(int memory, const struct named_code *named, char *ret_text)
{
	__u64 info[NODE_FRAMES_MAX], again[NODE_FRAMES_MAX];
	const int count = node_inlined_read(memory, named, info);
	bool is_known;

	if (count < 0)
		return count;
	if (named->depth >= count)
		return -ENOENT;
	is_known = read_info(memory, &named->compiled->node, info[count - 1 - named->depth],
			     ret_text);
	if (node_inlined_read(memory, named, again) != count ||
	    memcmp(info, again, (size_t)count * sizeof(*info)) != 0)
		return -ESTALE;
	return is_known ? named->depth + 1 < count : -ENOENT;
}

/* The garbage collector may move what is read meanwhile: then it is another one in the end. */
static int read_names(int memory, const struct named_code *named, char *ret_text)
{
	const struct node_code *code = named->compiled ? &named->compiled->node : NULL;
	bool is_known;

	if (!code || !code->function)
		return -EINVAL;
	if (named->is_inner)
		return read_inner(memory, named, ret_text);
	if (!is_same(memory, code, named))
		return -ESTALE;
	is_known = read_info(memory, code, named->address, ret_text);
	if (!is_same(memory, code, named))
		return -ESTALE;
	return is_known ? 0 : -EINVAL;
}

const struct runtime_names node_names = {
    .unknown = "[a function of JavaScript]",
    .read = read_names,
    .compiled = node_compiled_read,
};
