// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "inspect/elf_functions.h"
#include "inspect/machine_code.h"
#include "runtimes/ruby/queues.h"

#define SITES_MAX 8 /* no version has more */
#define TYPES_MAX 8
#define LEA_SIZE  7
#define CALL_SIZE 5
#define STUB_SIZE 16 /* bytes of a stub that calls an exported function */

/* A function that is called: by its address, or through what the linker keeps of it. */
struct target {
	enum ruby_probe probe;
	__u64 address;
	__u64 slot[2]; /* 0: none */
};

struct search {
	struct elf_image *image;
	struct elf_functions functions;
	struct target push, shift;
	__u64 type[TYPES_MAX]; /* of queues */
	unsigned int types;
	struct probe_sites *sites;
	__u32 file;
	bool too_many;
	bool deeper; /* look into functions that are called, too */
};

static __u64 follow(const __u8 *distance, __u64 next)
{
	__u32 value;

	memcpy(&value, distance, sizeof(value));
	return next + (__u64)(__s64)(__s32)le32toh(value);
}

/* A type's description begins with its name. */
static int add_type(struct elf_image *image, __u64 where, void *data)
{
	struct search *search = data;

	(void)image;
	if (search->types < TYPES_MAX)
		search->type[search->types++] = where;
	return 0;
}

/* Linkers may let one name share the end of another, as that of "sized_queue". */
static void find_type(struct search *search, const char *name)
{
	struct elf_section texts;
	const __u8 *at;

	if (elf_image_section(search->image, ".rodata", &texts))
		return;
	for (at = texts.data; at; at++) {
		at = memmem(at, texts.size - (size_t)(at - texts.data), name, strlen(name) + 1);
		if (!at)
			break;
		elf_image_each_pointer(search->image, texts.address + (__u64)(at - texts.data),
				       add_type, search);
	}
}

static int find_target(struct elf_image *image, const char *name, struct target *target)
{
	elf_image_named_relocation(image, R_X86_64_JUMP_SLOT, name, &target->slot[0]);
	elf_image_named_relocation(image, R_X86_64_GLOB_DAT, name, &target->slot[1]);
	return elf_image_symbol(image, name, &target->address);
}

static bool is_target(const struct search *search, const struct target *target, __u64 called)
{
	__u8 stub[STUB_SIZE];
	__u64 slot;

	if (called == target->address)
		return true;
	if (elf_image_read(search->image, called, stub, sizeof(stub)) ||
	    machine_code_slot(stub, sizeof(stub), called, &slot))
		return false;
	return slot == target->slot[0] || slot == target->slot[1];
}

static void add_site(struct search *search, enum ruby_probe probe, __u64 address)
{
	struct probe_sites *sites = search->sites;
	__u64 offset;

	if (elf_image_offset(search->image, address, &offset))
		return;
	for (__u32 i = 0; i < sites->count; i++)
		if (sites->site[i].offset == offset)
			return;
	if (sites->count == SITES_MAX ||
	    probe_sites_add(sites, search->image, search->file, probe, address))
		search->too_many = true;
}

static bool in_code(const struct search *search, __u64 address)
{
	const struct elf_section *code = &search->functions.code;

	return address - code->address < code->size;
}

static void look_into(struct search *search, const struct elf_function *function);

/* A function that is called where queues are at hand may be one for queues itself. */
static void look_deeper(struct search *search, __u64 called)
{
	struct elf_function function;

	if (!search->deeper || !in_code(search, called) ||
	    elf_functions_find(&search->functions, called, &function) || function.address != called)
		return;
	search->deeper = false;
	look_into(search, &function);
	search->deeper = true;
}

/* Its calls, and jumps to what it ends with. */
static void look_into(struct search *search, const struct elf_function *function)
{
	for (size_t i = 0; i + CALL_SIZE <= function->size; i++) {
		const __u8 *code = function->code + i;
		__u64 at = function->address + i, called;

		if ((code[0] & 0xfe) != 0xe8)
			continue;
		called = follow(code + 1, at + CALL_SIZE);
		if (is_target(search, &search->push, called)) {
			add_site(search, RUBY_PUT, at);
		} else if (is_target(search, &search->shift, called)) {
			add_site(search, RUBY_TAKEN, at);
			add_site(search, RUBY_ASKED, function->address);
		} else {
			look_deeper(search, called);
		}
	}
}

/* lea value(%rip), %register */
static bool is_lea(const __u8 *code)
{
	return (code[0] & 0xfb) == 0x48 && code[1] == 0x8d && (code[2] & 0xc7) == 0x05;
}

static bool is_type(const struct search *search, __u64 address)
{
	for (unsigned int i = 0; i < search->types; i++)
		if (search->type[i] == address)
			return true;
	return false;
}

/* All functions that know the types of queues. */
static void look_into_all(struct search *search)
{
	const struct elf_section *code = &search->functions.code;
	struct elf_function function = {};

	for (size_t i = 0; i + LEA_SIZE <= code->size; i++) {
		__u64 at = code->address + i;

		if (!is_lea(code->data + i) ||
		    !is_type(search, follow(code->data + i + 3, at + LEA_SIZE)) ||
		    at - function.address < function.size ||
		    elf_functions_find(&search->functions, at, &function))
			continue;
		search->deeper = true;
		look_into(search, &function);
	}
}

int ruby_queues_find(struct elf_image *image, __u32 file, struct probe_sites *sites)
{
	struct search search = {.image = image, .file = file, .sites = sites};

	if (elf_functions_open(image, &search.functions) ||
	    find_target(image, "rb_ary_push", &search.push) ||
	    find_target(image, "rb_ary_shift", &search.shift))
		return -ENOTSUP;
	find_type(&search, "queue");
	find_type(&search, "sized_queue");
	look_into_all(&search);
	if (!search.too_many && probe_sites_count(sites, RUBY_PUT) &&
	    probe_sites_count(sites, RUBY_TAKEN))
		return 0;
	sites->count = 0;
	return -ENOTSUP;
}
