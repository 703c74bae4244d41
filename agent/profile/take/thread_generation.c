// SPDX-License-Identifier: Apache-2.0
#include "profile/take/thread_generation.h"

#define LISTS_MAX 64 /* the first has 64 modules, and each one behind it some more */

/* glibc's struct dtv_slotinfo_list, the same in all versions; its entries follow. */
struct module_list {
	__u64 count, next;
};

struct module_entry {
	__u64 generation, map; /* 0: no module */
};

/* How libthread_db is told of a field: its size in bits, how many there are, and its offset. */
struct field {
	__u32 bits, count, offset;
};

/* The first list of modules. 0: it is not known where it is. */
static __u64 first_list(const struct thread_modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		const struct thread_module *module = &modules->module[i];
		struct field field;
		__u64 linker;

		if (!module->file->linker || !module->file->modules)
			continue;
		linker = proc_reader_u64(modules->reader, module->bias + module->file->linker);
		if (!linker ||
		    proc_reader_memory(modules->reader, module->bias + module->file->modules,
				       &field, sizeof(field)))
			return 0;
		return proc_reader_u64(modules->reader, linker + field.offset);
	}
	return 0;
}

/* The address of the entry of a module. 0: there is none. */
static __u64 entry_of(const struct thread_modules *modules, __u64 module)
{
	__u64 at = first_list(modules);
	struct module_list list;

	for (int i = 0; at && i < LISTS_MAX; i++) {
		if (proc_reader_memory(modules->reader, at, &list, sizeof(list)))
			return 0;
		if (module < list.count)
			return at + sizeof(list) + module * sizeof(struct module_entry);
		module -= list.count;
		at = list.next;
	}
	return 0;
}

void thread_generation_find(const struct thread_modules *modules, struct profile_tls *tls)
{
	const __u64 at = entry_of(modules, tls->module);
	struct module_entry entry;

	if (!at || proc_reader_memory(modules->reader, at, &entry, sizeof(entry)) || !entry.map)
		return;
	tls->generation = entry.generation;
	tls->generation_at = at;
}
