// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "inspect/process_memory.h"
#include "runtimes/ruby/class.h"
#include "runtimes/ruby/layout.h"
#include "runtimes/ruby/text.h"

/* Of RClass, Ruby 2.7 to 3.4 (internal/class.h). */
#define TYPE_CLASS         0x02
#define TYPE_MODULE        0x03
#define SINGLETON          (1ULL << 12) /* of the first word of a class; before 3.4 */
#define SINGLETON_3_4      (1ULL << 13)
#define CLASS_SUPER        16
#define CLASS_MORE         24 /* struct rb_classext_struct, until 3.1; since 3.3 it is in the class */
#define MORE_VARIABLES     8   /* iv_tbl */
#define CLASS_ATTACHED_3_3 128 /* as.singleton_class.attached_object */
#define CLASS_BITS_3_3     149
#define BIT_PERMANENT      1 /* permanent_classpath: the name will not change */

/* Of st_table (include/ruby/st.h). */
#define TABLE_COUNT   40 /* entries_bound: with those that are no more */
#define TABLE_ENTRIES 48
#define HASH_DELETED  (~0ULL) /* of an entry: it is no more */

#define ROOT          "BasicObject"
#define ADDRESS_MASK  7ULL
#define VARIABLES_MAX 32  /* of a class that are looked at */
#define ANCESTORS_MAX 256 /* classes and modules, one behind the other */

/* The variables of a class; its name is one of them until 3.1. */
struct variables {
	size_t count;
	struct {
		__u64 hash, name, value;
	} entry[VARIABLES_MAX];
};

static void read_variables(int memory, __u64 class, struct variables *ret)
{
	const __u64 more = process_memory_u64(memory, class + CLASS_MORE);
	const __u64 table = more ? process_memory_u64(memory, more + MORE_VARIABLES) : 0;
	const __u64 count = table ? process_memory_u64(memory, table + TABLE_COUNT) : 0;
	const __u64 entries = count ? process_memory_u64(memory, table + TABLE_ENTRIES) : 0;

	ret->count = count < VARIABLES_MAX ? count : VARIABLES_MAX;
	if (!entries ||
	    process_memory_read(memory, entries, ret->entry, ret->count * sizeof(ret->entry[0])))
		ret->count = 0;
	for (size_t i = 0; i < ret->count; i++)
		if (ret->entry[i].hash == HASH_DELETED)
			ret->entry[i].name = ret->entry[i].value = 0;
}

static __u64 type_of(int memory, __u64 object)
{
	return process_memory_u64(memory, object) & RUBY_TYPE_MASK;
}

/* The class from which all inherit. */
static __u64 root_of(int memory, __u64 class)
{
	__u64 super;

	if (type_of(memory, class) == TYPE_MODULE)
		class = process_memory_u64(memory, class + RUBY_OBJECT_CLASS);
	for (int i = 0; i < ANCESTORS_MAX; i++, class = super) {
		super = process_memory_u64(memory, class + CLASS_SUPER);
		if (!super)
			return class;
	}
	return 0;
}

/* What the variable is called (a number) that has the names of classes: the root's is known. */
static __u64 name_of_paths(int memory, __u64 class, int layout)
{
	struct variables variables;
	char text[sizeof(ROOT)];

	read_variables(memory, root_of(memory, class), &variables);
	for (size_t i = 0; i < variables.count; i++)
		if (ruby_text(memory, variables.entry[i].value, layout, text, sizeof(text)) &&
		    !strcmp(text, ROOT))
			return variables.entry[i].name;
	return 0;
}

/* The String with its name; 0: it has none. */
static __u64 path_of(int memory, __u64 class, int layout)
{
	struct variables variables;
	__u64 name;

	if (layout >= RUBY_CODE_3_3)
		return process_memory_u64(memory, class + CLASS_BITS_3_3) & BIT_PERMANENT
			   ? process_memory_u64(memory, class + RUBY_OWNER_PATH)
			   : 0;
	name = name_of_paths(memory, class, layout);
	read_variables(memory, class, &variables);
	for (size_t i = 0; name && i < variables.count; i++)
		if (variables.entry[i].name == name)
			return variables.entry[i].value;
	return 0;
}

/* Is it a class or module, and this its singleton class? */
static bool is_attached(int memory, __u64 object, __u64 singleton)
{
	const __u64 type = object & ADDRESS_MASK ? 0 : type_of(memory, object);

	return (type == TYPE_CLASS || type == TYPE_MODULE) && object != singleton &&
	       process_memory_u64(memory, object + RUBY_OBJECT_CLASS) == singleton;
}

/* The class or module whose singleton class it is; 0: it is that of another object. */
static __u64 attached_to(int memory, __u64 singleton, int layout)
{
	struct variables variables;
	__u64 object;

	if (layout >= RUBY_CODE_3_3) {
		object = process_memory_u64(memory, singleton + CLASS_ATTACHED_3_3);
		return is_attached(memory, object, singleton) ? object : 0;
	}
	read_variables(memory, singleton, &variables);
	for (size_t i = 0; i < variables.count; i++)
		if (is_attached(memory, variables.entry[i].value, singleton))
			return variables.entry[i].value;
	return 0;
}

/* Names of constants begin like this; others are made up for classes without a name. */
static bool is_constant(const char *text)
{
	return (text[0] >= 'A' && text[0] <= 'Z') || (text[0] & 0x80);
}

bool ruby_class_read(int memory, __u64 owner, int layout, char *ret, size_t size)
{
	const __u64 flags = process_memory_u64(memory, owner), type = flags & RUBY_TYPE_MASK;
	const __u64 bit = layout >= RUBY_CODE_3_4 ? SINGLETON_3_4 : SINGLETON;
	const bool is_singleton = type == TYPE_CLASS && flags & bit;
	const __u64 class = is_singleton ? attached_to(memory, owner, layout) : owner;
	size_t end;

	if (layout == RUBY_CODE_3_2 || (type != TYPE_CLASS && type != TYPE_MODULE) || !class ||
	    !ruby_text(memory, path_of(memory, class, layout), layout, ret, size - 1) ||
	    !is_constant(ret))
		return false;
	end = strlen(ret);
	ret[end] = is_singleton ? '.' : '#';
	ret[end + 1] = '\0';
	return true;
}

__u64 ruby_class_check(int memory, __u64 owner, int layout, __u64 check)
{
	__u64 word[RUBY_OWNER_WORDS] = {};

	process_memory_read(memory, owner + RUBY_OWNER_FROM, word, sizeof(word));
	for (int i = 0; i < RUBY_OWNER_WORDS; i++)
		check = ruby_check_add(check, word[i]);
	if (layout >= RUBY_CODE_3_3)
		check = ruby_check_add(check, process_memory_u64(memory, owner + RUBY_OWNER_PATH));
	return check;
}
