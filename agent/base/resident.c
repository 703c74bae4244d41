// SPDX-License-Identifier: Apache-2.0
#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/resident.h"

/* Bytes at the end of a heap that are free, and stay. */
#define FREE_MOST (256 << 10)

/* Whole pages of constants, not those that a writable segment shares. */
static void forget(const struct dl_phdr_info *object, const ElfW(Phdr) * segment)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = object->dlpi_addr + segment->p_vaddr, to = from + segment->p_filesz;

	from = (from + page - 1) / page * page;
	to = to / page * page;
	if (from < to) /* NOLINTNEXTLINE(performance-no-int-to-ptr): the linker tells numbers */
		madvise((void *)from, to - from, MADV_DONTNEED);
}

/* The program itself comes first. */
static int look(struct dl_phdr_info *object, size_t size, void *data)
{
	(void)size;
	(void)data;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_LOAD && object->dlpi_phdr[i].p_flags == PF_R)
			forget(object, &object->dlpi_phdr[i]);
	return true;
}

void resident_keep_low(void)
{
	mallopt(M_TRIM_THRESHOLD, FREE_MOST);
}

void resident_shrink(void)
{
	malloc_trim(0);
	dl_iterate_phdr(look, NULL);
}
