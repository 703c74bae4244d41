// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <string.h>

#include "runtime/python_methods.h"

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

int python_methods_each(struct elf_image *image, const char *name,
			int (*found)(__u64 address, void *data), void *data)
{
	struct search search = {.found = found, .data = data};
	struct elf_section strings;
	char wanted[NAME_MAX_SIZE];
	const __u8 *at;
	int length;

	/* Behind the end of another text; linkers let texts share their ends. */
	length = snprintf(wanted, sizeof(wanted), "%c%s", '\0', name) + 1;
	if (elf_image_section(image, ".rodata", &strings))
		return 0;
	for (at = strings.data; at && search.count >= 0; at++) {
		at = memmem(at, strings.size - (size_t)(at - strings.data), wanted, (size_t)length);
		if (!at)
			break;
		elf_image_each_pointer(image, strings.address + (__u64)(at - strings.data) + 1,
				       look_behind, &search);
	}
	return search.count;
}
