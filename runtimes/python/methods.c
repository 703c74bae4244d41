// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtimes/python/methods.h"

#define NAME_MAX_SIZE 64

/* struct PyMethodDef: address of the name, of the function, and two words more. */
#define METHOD_FUNCTION 8
#define METHOD_BYTES    32

struct search {
	const char *before; /* the method that stands before it is wanted; NULL: it is */
	int (*found)(__u64 address, void *data);
	void *data;
	int count; /* or what `found` returned below 0 */
};

static bool has_name(struct elf_image *image, __u64 method, const char *name)
{
	const size_t size = strlen(name) + 1;
	char text[NAME_MAX_SIZE];
	__u64 address;

	return size <= sizeof(text) && !elf_image_pointer(image, method, &address) &&
	       !elf_image_read(image, address, text, size) && !memcmp(text, name, size);
}

/* Something points at the name: is it a method's, which has a function? */
static int look_behind(struct elf_image *image, __u64 where, void *data)
{
	struct search *search = data;
	__u64 function, offset;
	int err;

	if (search->before) {
		where -= METHOD_BYTES;
		if (!has_name(image, where, search->before))
			return 0;
	}
	if (elf_image_pointer(image, where + METHOD_FUNCTION, &function) ||
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

static int each(struct elf_image *image, const char *name, struct search *search)
{
	struct elf_section strings;
	char wanted[NAME_MAX_SIZE];
	size_t size;

	if (elf_image_section(image, ".rodata", &strings))
		return 0;
	/* Behind the end of another text; or it is the end of one: linkers let them share it. */
	size = (size_t)snprintf(wanted, sizeof(wanted), "%c%s", '\0', name) + 1;
	look_for(image, &strings, wanted, size, size - 1, search);
	if (!search->count)
		look_for(image, &strings, wanted + 1, size - 1, size - 1, search);
	return search->count;
}

int python_methods_each(struct elf_image *image, const char *name,
			int (*found)(__u64 address, void *data), void *data)
{
	struct search search = {.found = found, .data = data};

	return each(image, name, &search);
}

int python_methods_each_before(struct elf_image *image, const char *name, const char *behind,
			       int (*found)(__u64 address, void *data), void *data)
{
	struct search search = {.before = name, .found = found, .data = data};

	return each(image, behind, &search);
}
