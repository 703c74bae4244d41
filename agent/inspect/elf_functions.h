/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the functions of a file begin and end, with or without symbols: by its table for unwinding
 * stacks (.eh_frame_hdr).
 */
#ifndef CTXPROP_ELF_FUNCTIONS_H
#define CTXPROP_ELF_FUNCTIONS_H

#include "inspect/elf_image.h"

struct elf_functions {
	struct elf_section code;  /* .text */
	struct elf_section index; /* pairs of 4 bytes: beginning, from index.address; something */
	__u64 from;               /* what the beginnings are counted from */
	size_t count;
};

struct elf_function {
	const __u8 *code;
	size_t size; /* up to the next function */
	__u64 address;
};

/* Valid while the image is open. 0, or -ENOENT: there is no such table, or of another kind. */
int elf_functions_open(struct elf_image *image, struct elf_functions *ret_functions);

/* The function that an address is in. 0, or -ENOENT. */
int elf_functions_find(const struct elf_functions *functions, __u64 address,
		       struct elf_function *ret_function);

#endif
