/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a file names, to be found by address. */
#ifndef CTXPROP_PROFILE_SYMBOLS_H
#define CTXPROP_PROFILE_SYMBOLS_H

#include "inspect/elf_image.h"

struct symbols;

/* Valid while the image is open. 0 or -ENOMEM. */
int symbols_new(struct elf_image *image, struct symbols **ret_symbols);
void symbols_free(struct symbols *symbols);

/* The function that has this byte, by the size that its symbol tells. NULL: none does. */
const char *symbols_find(const struct symbols *symbols, __u64 address);

#endif
