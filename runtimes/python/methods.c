// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "runtimes/python/methods.h"

#define NAME_MAX_SIZE 64

struct search {
	int (*found)(__u64 address, void *data);
	void *data;
	int count; /* or what `found` returned below 0 */
};

/* Something points at the name: is it struct PyMethodDef, the function next to it? */
static int look_behind(struct elf_image *image, __u64 where, void *data)
{
	struct search *search = data;
	__u64 function, offset;
	int err;

	if (elf_image_relocation(image, where + sizeof(__u64), &function) ||
	    elf_image_offset(image, function, &offset))
		return 0;
	err = search->found(function, search->data);
	search->count = err < 0 ? err : search->count + 1;
	return err < 0 ? err : 0;
}

/* `size` bytes at each place where they stand: the last `length` of them are a name. */
static void look_for(struct elf_image *image, const struct elf_section *strings, const char *wanted,
		     size_t size, size_t length, struct search *search)
{
	const __u8 *at;

	for (at = strings->data; at && search->count >= 0; at++) {
		at = memmem(at, strings->size - (size_t)(at - strings->data), wanted, size);
		if (!at)
			break;
		elf_image_each_pointer(
		    image, strings->address + (__u64)(at - strings->data) + size - length,
		    look_behind, search);
	}
}

int python_methods_each(struct elf_image *image, const char *name,
			int (*found)(__u64 address, void *data), void *data)
{
	struct search search = {.found = found, .data = data};
	struct elf_section strings;
	char wanted[NAME_MAX_SIZE];
	size_t size;

	if (elf_image_section(image, ".rodata", &strings))
		return 0;
	/* Behind the end of another text; or it is the end of one: linkers let them share it. */
	size = (size_t)snprintf(wanted, sizeof(wanted), "%c%s", '\0', name) + 1;
	look_for(image, &strings, wanted, size, size - 1, &search);
	if (!search.count)
		look_for(image, &strings, wanted + 1, size - 1, size - 1, &search);
	return search.count;
}
