/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of elf_image.h share: elf_image.c, elf_symbols.c and elf_relocations.c. */
#ifndef CTXPROP_ELF_IMAGE_INSIDE_H
#define CTXPROP_ELF_IMAGE_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <gelf.h>
#include <libelf.h>
#include <linux/types.h>

#define SECTION_MAX (512UL << 20) /* a larger one is not read */

struct elf_image {
	const __u8 *data; /* the whole file */
	size_t size;
	bool mapped; /* by us */
	Elf *elf;
	GElf_Ehdr header;
};

/* The section behind `section` (NULL: the first); NULL: there is none. */
Elf_Scn *elf_image_next(struct elf_image *image, Elf_Scn *section, GElf_Shdr *ret_header);

/* The data of the next section of this type; *section is where to go on. NULL: no more. */
Elf_Data *elf_image_next_of_type(struct elf_image *image, unsigned int type, Elf_Scn **section,
				 GElf_Shdr *ret_header);

#endif
