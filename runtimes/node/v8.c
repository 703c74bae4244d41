// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/node/v8.h"

#define SYMBOL_MAX 128
#define WORD       8  /* bytes */
#define GETTER_MAX 16 /* bytes of code of a function that only tells a constant */

#define CODE      "_ZN2v88internal23DefaultEmbeddedBlobCodeEv"
#define CODE_SIZE "_ZN2v88internal27DefaultEmbeddedBlobCodeSizeEv"

__u32 v8_published(struct elf_image *image, const char *name)
{
	char symbol[SYMBOL_MAX];
	__u64 address;
	__s32 number;

	snprintf(symbol, sizeof(symbol), "v8dbg_%s", name);
	if (elf_image_symbol(image, symbol, &address) ||
	    elf_image_read(image, address, &number, sizeof(number)) || number < 0)
		return 0;
	return (__u32)number;
}

/* What a function returns: this address, or what stands there. */
struct getter {
	__u64 address;
	bool loads;
};

static __s32 read_s32(const __u8 *code)
{
	__s32 value;

	memcpy(&value, code, sizeof(value));
	return value;
}

/* The instruction with an address. Returns its length; 0: it is none. */
static size_t read_address(const __u8 *code, __u64 at, struct getter *ret)
{
	static const __u8 lea[] = {0x48, 0x8d, 0x05};  /* lea place(%rip),%rax */
	static const __u8 load[] = {0x48, 0x8b, 0x05}; /* mov place(%rip),%rax */

	if (code[0] == 0xb8) { /* mov $place,%eax */
		*ret = (struct getter){(__u32)read_s32(code + 1), false};
		return 5;
	}
	if (code[0] == 0x8b && code[1] == 0x05) { /* mov place(%rip),%eax */
		*ret = (struct getter){at + 6 + (__u64)(__s64)read_s32(code + 2), true};
		return 6;
	}
	ret->loads = !memcmp(code, load, sizeof(load));
	if (!ret->loads && memcmp(code, lea, sizeof(lea)) != 0)
		return 0;
	ret->address = at + 7 + (__u64)(__s64)read_s32(code + 3);
	return 7;
}

/* What a function of that name tells. 0, or -ENOTSUP: it is none, or does something else, too. */
static int read_getter(struct elf_image *image, const char *name, struct getter *ret)
{
	static const __u8 load[] = {0x8b, 0x00, 0xc3}; /* mov (%rax),%eax; ret */
	__u8 code[GETTER_MAX];
	__u64 address;
	size_t at;

	/* Since 13 it is only for the file itself. */
	if (elf_image_symbol(image, name, &address) &&
	    elf_image_own_function(image, name, &address))
		return -ENOTSUP;
	if (elf_image_read(image, address, code, sizeof(code)))
		return -ENOTSUP;
	at = read_address(code, address, ret);
	if (!at)
		return -ENOTSUP;
	if (code[at] == 0xc3)
		return 0;
	at += code[at] == 0x48; /* of 64 bits */
	ret->loads = !ret->loads && !memcmp(code + at, load, sizeof(load));
	return ret->loads ? 0 : -ENOTSUP;
}

/* What stands at an address in the file of a program that is not moved. 0 or -errno. */
static int read_address_at(struct elf_image *image, __u64 *address)
{
	const int err = elf_image_read(image, *address, address, sizeof(*address));

	return err || *address ? err : -ENOENT;
}

static int find_builtins(struct elf_image *image, struct node_code *code)
{
	struct getter start, size;

	if (read_getter(image, CODE, &start) || read_getter(image, CODE_SIZE, &size) || !size.loads)
		return -ENOTSUP;
	if (start.loads && elf_image_relocation(image, start.address, &start.address) &&
	    read_address_at(image, &start.address))
		return -ENOTSUP;
	code->builtins = start.address - elf_image_base(image);
	return elf_image_read(image, size.address, &code->builtins_size, sizeof(__u32)) ? -ENOTSUP
											: 0;
}

/* Offsets are published with the type of what stands there. `names`: of all versions, then NULL. */
static __u8 offset_of(struct elf_image *image, const char *const *names)
{
	__u32 offset = 0;

	for (; *names && !offset; names++)
		offset = v8_published(image, *names);
	return (__u8)offset;
}

static const char *const info_scope[] = {
    "class_SharedFunctionInfo__name_or_scope_info__Tagged_NameOrScopeInfoT_",
    "class_SharedFunctionInfo__name_or_scope_info__Tagged_Object_",
    "class_SharedFunctionInfo__name_or_scope_info__Object", NULL};
static const char *const info_script[] = {
    "class_SharedFunctionInfo__script__Tagged_HeapObject_",
    "class_SharedFunctionInfo__script_or_debug_info__HeapObject", NULL};

/* What differs between versions is what ScopeInfo has (scope-info.tq). */
struct version {
	__u16 bytecode, scope; /* an offset and a type, by which a version is known */
	__u8 scope_smi, scope_function;
	enum node_version number;
};

/* NULL: it is another version. */
static const struct version *find_version(struct elf_image *image, __u32 scope)
{
	static const struct version known[] = {
	    {56, 256, 1, 2, NODE_V8_10_2},
	    {54, 261, 1, 2, NODE_V8_11_3},
	    {64, 272, 1, 2, NODE_V8_12_4},
	    {64, 280, 0, 4, NODE_V8_13_6}, /* flags are no Smi */
	};
	const __u32 bytecode = v8_published(image, "class_BytecodeArray__data__uintptr_t");

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].bytecode == bytecode && known[i].scope == scope)
			return v8_published(image, "TaggedSize") == WORD ? &known[i] : NULL;
	return NULL;
}

static void find_names(struct elf_image *image, struct node_code *code)
{
	const __u32 scope = v8_published(image, "type_ScopeInfo__SCOPE_INFO_TYPE");
	const struct version *version = find_version(image, scope);
	struct node_code names = {
	    .builtins = code->builtins,
	    .builtins_size = code->builtins_size,
	    .function = v8_published(image, "type_JSFunction__JS_FUNCTION_TYPE"),
	    .info = v8_published(image, "type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE"),
	    .scope = (__u16)scope,
	    .script = v8_published(image, "type_Script__SCRIPT_TYPE"),
	    .function_info = v8_published(image, "class_JSFunction__shared__SharedFunctionInfo"),
	    .info_scope = offset_of(image, info_scope),
	    .info_script = offset_of(image, info_script),
	    .info_parameters = v8_published(
		image, "class_SharedFunctionInfo__internal_formal_parameter_count__uint16_t"),
	    .script_name = v8_published(image, "class_Script__name__Object"),
	    .scope_locals = WORD + WORD * v8_published(image, "scopeinfo_idx_first_vars"),
	};

	if (!version || !names.function || !names.info || !names.script || !names.function_info ||
	    !names.info_scope || !names.info_script || !names.info_parameters ||
	    !names.script_name || names.scope_locals <= WORD)
		return;
	names.scope_smi = version->scope_smi;
	names.scope_function = version->scope_function;
	names.bytecode = v8_published(image, "type_BytecodeArray__BYTECODE_ARRAY_TYPE");
	names.version = names.bytecode ? version->number : NODE_V8_OTHER;
	*code = names;
}

int v8_code(struct elf_image *image, struct node_code *ret_code)
{
	int err;

	*ret_code = (struct node_code){};
	err = find_builtins(image, ret_code);
	if (!err)
		find_names(image, ret_code);
	return err;
}
