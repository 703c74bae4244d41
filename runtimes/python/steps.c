// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>

#include "runtimes/python/code.h"
#include "runtimes/python/python.h"
#include "runtimes/python/steps.h"

/*
 * Which task is the current one of a loop stands in a dictionary of the module (enter_task() and
 * leave_task() in Modules/_asynciomodule.c), which it does nothing else with by these functions of
 * the interpreter: up to CPython 3.12, then those of 3.13.
 */
static const struct change {
	const char *function;
	enum python_probe probe;
} changes[] = {
    {"_PyDict_DelItem_KnownHash", PYTHON_STEP_ENDS},
    {"_PyDict_DelItemIf", PYTHON_STEP_ENDS},
    {"_PyDict_SetItem_KnownHash", PYTHON_STEP_BEGINS},
    {"PyDict_SetDefaultRef", PYTHON_STEP_BEGINS},
    {"_PyDict_SetItem_KnownHash_LockHeld", PYTHON_STEP_BEGINS},
};

struct search {
	struct elf_image *image;
	struct probe_sites *sites;
	__u32 file;
	enum python_probe probe;
};

static int add(__u64 address, void *data)
{
	const struct search *search = data;

	return probe_sites_add(search->sites, search->image, search->file, search->probe, address);
}

static int find_stub(struct elf_image *image, const char *section, __u64 slot, __u64 *ret_stub)
{
	struct elf_section stubs;

	return elf_image_section(image, section, &stubs)
		   ? -ENOENT
		   : python_code_stub(stubs.data, stubs.size, stubs.address, slot, ret_stub);
}

int python_steps_stub(struct elf_image *image, const char *function, __u64 *ret_stub)
{
	__u64 slot;

	if (elf_image_named_relocation(image, R_X86_64_JUMP_SLOT, function, &slot))
		return -ENOENT;
	return find_stub(image, ".plt.sec", slot, ret_stub)
		   ? find_stub(image, ".plt", slot, ret_stub)
		   : 0;
}

/* All places in code that call the function. 0 or -errno. */
static int add_calls(struct search *search, const struct elf_section *text, const char *function)
{
	__u64 stub;

	if (python_steps_stub(search->image, function, &stub))
		return 0;
	return python_code_each_call(text->data, text->size, text->address, stub, add, search);
}

/* How many of them are there since there were `before` sites? */
static unsigned int count_since(const struct probe_sites *sites, __u32 before,
				enum python_probe probe)
{
	unsigned int count = 0;

	for (__u32 i = before; i < sites->count; i++)
		count += sites->site[i].probe == probe;
	return count;
}

int python_steps_of_tasks(struct elf_image *image, __u32 file, struct probe_sites *sites)
{
	struct search search = {.image = image, .sites = sites, .file = file};
	const __u32 before = sites->count;
	struct elf_section text;
	int err = elf_image_section(image, ".text", &text);

	for (size_t i = 0; !err && i < sizeof(changes) / sizeof(changes[0]); i++) {
		search.probe = changes[i].probe;
		err = add_calls(&search, &text, changes[i].function);
	}
	if (!err && count_since(sites, before, PYTHON_STEP_ENDS) &&
	    count_since(sites, before, PYTHON_STEP_BEGINS))
		return 0;
	sites->count = before;
	return -ENOTSUP;
}

#define SWITCHED "_ZN8greenlet8Greenlet21g_switchstack_successEv"

int python_steps_of_greenlets(struct elf_image *image, __u32 file, struct probe_sites *sites)
{
	struct search search = {
	    .image = image, .sites = sites, .file = file, .probe = PYTHON_SWITCHES};
	struct elf_section text;
	__u64 start, end, jump;

	if (elf_image_symbol_range(image, SWITCHED, &start, &end) ||
	    elf_image_section(image, ".text", &text) || start < text.address || end < start ||
	    end > text.address + text.size ||
	    python_code_switched(text.data + (start - text.address), end - start, start, &jump) ||
	    add(jump, &search))
		return -ENOTSUP;
	return 0;
}

/* The function that one of these goes on with. 0, or -ENOENT. */
static int find_rest(struct elf_image *image, const char *function, __u64 *ret_rest)
{
	__u8 code[32];
	__u64 address;

	if (elf_image_symbol(image, function, &address) ||
	    elf_image_read(image, address, code, sizeof(code)))
		return -ENOENT;
	return python_code_rest(code, sizeof(code), address, ret_rest);
}

int python_steps_of_contexts(struct elf_image *image, __u32 file, struct probe_sites *sites)
{
	struct search search = {.image = image, .sites = sites, .file = file};
	const __u32 before = sites->count;
	struct elf_section text;
	__u64 enters, leaves;
	int err;

	if (find_rest(image, "PyContext_Enter", &enters) ||
	    find_rest(image, "PyContext_Exit", &leaves) || elf_image_section(image, ".text", &text))
		return -ENOTSUP;
	search.probe = PYTHON_LEAVES;
	err = python_code_each_call(text.data, text.size, text.address, leaves, add, &search);
	search.probe = PYTHON_HAS_ENTERED;
	if (!err)
		err = python_code_each_checked(text.data, text.size, text.address, enters, add,
					       &search);
	if (!err && count_since(sites, before, PYTHON_LEAVES) &&
	    count_since(sites, before, PYTHON_HAS_ENTERED))
		return 0;
	sites->count = before;
	return -ENOTSUP;
}
