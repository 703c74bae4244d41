// SPDX-License-Identifier: Apache-2.0
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "inspect/elf_functions.h"

/* How the table begins: version, and how its parts are encoded (the usual way, for us the only). */
static const __u8 usual[] = {1, 0x1b, 0x03, 0x3b};

#define COUNT_OFFSET 8
#define PAIRS_OFFSET 12
#define PAIR_SIZE    8

static __s32 read_s32(const __u8 *at)
{
	__u32 value;

	memcpy(&value, at, sizeof(value));
	return (__s32)le32toh(value);
}

int elf_functions_open(struct elf_image *image, struct elf_functions *ret_functions)
{
	struct elf_section header, code;

	if (elf_image_section(image, ".text", &code) ||
	    elf_image_section(image, ".eh_frame_hdr", &header) || header.size < PAIRS_OFFSET ||
	    memcmp(header.data, usual, sizeof(usual)) != 0)
		return -ENOENT;
	*ret_functions = (struct elf_functions){
	    .code = code,
	    .index = {.data = header.data + PAIRS_OFFSET, .size = header.size - PAIRS_OFFSET},
	    .from = header.address,
	    .count = (__u32)read_s32(header.data + COUNT_OFFSET),
	};
	return ret_functions->count > ret_functions->index.size / PAIR_SIZE ? -ENOENT : 0;
}

/* Where the function of this number begins; those behind the last one at the end of the code. */
static __u64 beginning(const struct elf_functions *functions, size_t number)
{
	__u64 end = functions->code.address + functions->code.size, address;

	if (number >= functions->count)
		return end;
	address =
	    functions->from + (__u64)(__s64)read_s32(functions->index.data + number * PAIR_SIZE);
	return address < end ? address : end;
}

int elf_functions_find(const struct elf_functions *functions, __u64 address,
		       struct elf_function *ret_function)
{
	const struct elf_section *code = &functions->code;
	size_t low = 0, high = functions->count;
	__u64 start;

	/* All before `low` begin at or before it, all from `high` on behind it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (beginning(functions, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	start = low ? beginning(functions, low - 1) : 0;
	if (start < code->address || address - code->address >= code->size)
		return -ENOENT;
	*ret_function = (struct elf_function){.code = code->data + (start - code->address),
					      .size = beginning(functions, low) - start,
					      .address = start};
	return 0;
}
