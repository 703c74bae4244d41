/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a file names, to be found by address. */
#ifndef CTXPROP_PROFILE_SYMBOLS_H
#define CTXPROP_PROFILE_SYMBOLS_H

#include "inspect/elf_image.h"

struct symbols;

/* Valid while the image is open. 0 or -ENOMEM. */
int symbols_new(struct elf_image *image, struct symbols **ret_symbols);
void symbols_free(struct symbols *symbols);

/* Addresses that have the same function, or none. */
struct symbol_range {
	const char *name; /* NULL: no symbol has these bytes */
	__u64 start, end; /* from the first to behind the last */
};

/* What is known of a byte, by the sizes that symbols tell. */
struct symbol_range symbols_find(const struct symbols *symbols, __u64 address);

#endif
