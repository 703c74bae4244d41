// SPDX-License-Identifier: Apache-2.0
#include "profile/take/thread_generation.h"
#include "profile/take/thread_slot.h"

#define OFFSET_MAX (1LL << 30) /* bytes of thread-local variables */
#define MODULE_MAX 65536

/* Before the thread pointer, where x86-64 has what is there from a thread's beginning on. */
static struct profile_tls at_thread_pointer(__s64 offset)
{
	if (offset >= 0 || offset < -OFFSET_MAX)
		return (struct profile_tls){};
	return (struct profile_tls){.model = PROFILE_TLS_STATIC, .offset = offset};
}

static struct profile_tls in_block(const struct thread_modules *modules, __u64 module, __u64 offset)
{
	if (!module || module > MODULE_MAX || offset > OFFSET_MAX)
		return (struct profile_tls){};
	return (struct profile_tls){.model =
					modules->is_musl ? PROFILE_TLS_MUSL : PROFILE_TLS_GLIBC,
				    .module = (__u32)module,
				    .offset = (__s64)offset};
}

/* Two words: a module and an offset in its block. */
static struct profile_tls by_pair(const struct thread_modules *modules, __u64 address)
{
	__u64 pair[2];

	if (proc_reader_memory(modules->reader, address, pair, sizeof(pair)))
		return (struct profile_tls){};
	return in_block(modules, pair[0], pair[1]);
}

/* A descriptor: its argument is an offset from the thread pointer, or points at a pair. */
static struct profile_tls by_descriptor(const struct thread_modules *modules, __u64 address)
{
	const __u64 argument = proc_reader_u64(modules->reader, address + sizeof(__u64));
	const struct profile_tls fixed = at_thread_pointer((__s64)argument);

	return fixed.model ? fixed : by_pair(modules, argument);
}

/* By the places that one file has for the variable. */
static struct profile_tls by_slots(const struct thread_modules *modules,
				   const struct thread_module *module,
				   const struct thread_variable *variable)
{
	struct profile_tls tls = {};

	if (variable->offset_slot)
		tls = at_thread_pointer(
		    (__s64)proc_reader_u64(modules->reader, module->bias + variable->offset_slot));
	if (!tls.model && variable->module_slot)
		tls = by_pair(modules, module->bias + variable->module_slot);
	if (!tls.model && variable->descriptor_slot)
		tls = by_descriptor(modules, module->bias + variable->descriptor_slot);
	return tls;
}

/* By the file that defines it: its place in the file's block is known. */
static struct profile_tls by_definition(const struct thread_modules *modules,
					const struct thread_module *module,
					const struct thread_variable *variable)
{
	const struct thread_file *file = module->file;

	if (module->is_program && file->has_block)
		return at_thread_pointer((__s64)(variable->value - file->block_size));
	if (!variable->own_module_slot)
		return (struct profile_tls){};
	return in_block(modules,
			proc_reader_u64(modules->reader, module->bias + variable->own_module_slot),
			variable->value);
}

/* The first file that defines it, the program before all others. NULL: none does. */
static const struct thread_module *definer_of(const struct thread_modules *modules, size_t symbol)
{
	const struct thread_module *first = NULL;

	for (size_t i = 0; i < modules->count; i++) {
		const struct thread_module *module = &modules->module[i];

		if (!module->file->variable[symbol].defined)
			continue;
		if (module->is_program)
			return module;
		first = first ? first : module;
	}
	return first;
}

struct profile_tls thread_slot_find(const struct thread_modules *modules, size_t symbol,
				    __u64 *ret_size)
{
	const struct thread_module *definer = definer_of(modules, symbol);
	struct profile_tls tls = {};

	*ret_size = 0;
	if (!definer)
		return tls;
	*ret_size = definer->file->variable[symbol].size;
	tls = by_definition(modules, definer, &definer->file->variable[symbol]);
	if (!tls.model)
		tls = by_slots(modules, definer, &definer->file->variable[symbol]);
	/* Others that use it have places of their own. */
	for (size_t i = 0; !tls.model && i < modules->count; i++)
		tls = by_slots(modules, &modules->module[i],
			       &modules->module[i].file->variable[symbol]);
	if (tls.model == PROFILE_TLS_GLIBC)
		thread_generation_find(modules, &tls);
	return tls;
}
